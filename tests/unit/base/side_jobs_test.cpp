// SPDX-License-Identifier: BSD-3-Clause
#include "base/side_jobs.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace iocomp {
namespace {

class SideJobsTest : public testing::Test {
 protected:
  /// Runs a job that writes down its name, after `before` where it is there.
  void run(const std::string& name, std::future<void> before = {}) {
    jobs_.run(
        [this, name, wait = before.share()] {
          if (wait.valid()) {
            wait.get();
          }
          threads_.push_back(std::this_thread::get_id());
          done_.push_back(name);
        },
        [this, name](const Outcome& outcome) { told_.push_back(name + outcome.story); });
  }

  std::vector<std::thread::id> threads_;
  std::vector<std::string> done_;
  std::vector<std::string> told_;
  int ended_ = 0;
  SideJobs jobs_{"iocomp-test", [this] { ++ended_; }};  // last: its thread uses what is above
};

TEST_F(SideJobsTest, ThatSomebodyWaitsForIsDoneAtOnceByTheCaller) {
  run("commit");
  EXPECT_EQ(threads_, std::vector{std::this_thread::get_id()});
  EXPECT_EQ(told_, std::vector<std::string>{"commit"});
  EXPECT_FALSE(jobs_.advance());
}

TEST_F(SideJobsTest, ThatNobodyWaitsForDoesNotHoldUpTheCaller) {
  std::promise<void> goes_on;
  jobs_.go_beside(true);
  run("commit", goes_on.get_future());
  EXPECT_FALSE(jobs_.advance());
  EXPECT_TRUE(told_.empty());
  goes_on.set_value();
  jobs_.finish();
  EXPECT_EQ(told_, std::vector<std::string>{"commit"});
  EXPECT_NE(threads_.at(0), std::this_thread::get_id());
}

TEST_F(SideJobsTest, EndInTheOrderInWhichTheyCame) {
  std::promise<void> goes_on;
  jobs_.go_beside(true);
  run("commit", goes_on.get_future());
  jobs_.go_beside(false);
  run("finish");  // somebody waits for it, but it is about the same file
  EXPECT_TRUE(told_.empty());
  goes_on.set_value();
  jobs_.finish();
  EXPECT_EQ(done_, (std::vector<std::string>{"commit", "finish"}));
  EXPECT_EQ(told_, done_);
}

TEST_F(SideJobsTest, TellWhyTheyHaveFailed) {
  jobs_.go_beside(true);
  Outcome told;
  jobs_.run([] { throw Error{ErrorCode::storage_failure, "no room"}; },
            [&](const Outcome& outcome) { told = outcome; });
  jobs_.finish();
  EXPECT_EQ(told.code, ErrorCode::storage_failure);
  EXPECT_EQ(told.story, "no room");
}

TEST_F(SideJobsTest, ThatNobodyWantsToHearOfAnyMoreAreWaitedFor) {
  jobs_.go_beside(true);
  run("commit");
  run("finish");
  jobs_.end();
  EXPECT_EQ(done_, (std::vector<std::string>{"commit", "finish"}));
  EXPECT_TRUE(told_.empty());
  EXPECT_FALSE(jobs_.are_any());
}

TEST_F(SideJobsTest, MayBeginOthersWhenTheyHaveEnded) {
  jobs_.go_beside(true);
  bool has_followed = false;
  jobs_.run(
      [] {},
      [&](const Outcome&) { jobs_.run([] {}, [&](const Outcome&) { has_followed = true; }); });
  jobs_.finish();
  EXPECT_TRUE(has_followed);
}

}  // namespace
}  // namespace iocomp
