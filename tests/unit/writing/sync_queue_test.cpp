// SPDX-License-Identifier: BSD-3-Clause
#include "writing/sync_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "disk/engine.h"
#include "trace/span.h"

namespace iocomp::writing {
namespace {

/// Plans that end when a test says so.
struct Plans {
  std::vector<std::function<void(const disk::Completion&)>> done;
  Submit submit = [this](disk::Plan plan, auto ended) {
    EXPECT_TRUE(plan.sync);
    done.push_back(std::move(ended));
  };
};

TEST(SyncQueue, LetsAllWhoAskMeanwhileShareTheNext) {
  Plans plans;
  const auto queue = std::make_shared<SyncQueue>(plans.submit, trace::Recorder{});
  std::string told;
  const auto tell = [&told](const char* who) {
    return [&told, who](const Outcome& outcome) { told += outcome.ok() ? who : outcome.story; };
  };
  queue->ask(nullptr, tell("a"));
  queue->ask(nullptr, tell("b"));
  queue->ask(nullptr, tell("c"));
  ASSERT_EQ(plans.done.size(), 1U);
  plans.done[0]({});
  EXPECT_EQ(told, "a");
  ASSERT_EQ(plans.done.size(), 2U);
  plans.done[1]({});
  EXPECT_EQ(told, "abc");
  EXPECT_EQ(plans.done.size(), 2U);
}

TEST(SyncQueue, TellsAFailureToThoseWhoWaitedForThatOne) {
  Plans plans;
  const auto queue = std::make_shared<SyncQueue>(plans.submit, trace::Recorder{});
  std::vector<Outcome> told;
  const auto note = [&told](const Outcome& outcome) { told.push_back(outcome); };
  queue->ask(nullptr, note);
  queue->ask(nullptr, note);
  disk::Completion failed;
  failed.code = ErrorCode::storage_failure;
  failed.story = "Input/output error";
  plans.done[0](failed);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].story, "Input/output error");
  plans.done[1]({});
  ASSERT_EQ(told.size(), 2U);
  EXPECT_TRUE(told[1].ok());
}

}  // namespace
}  // namespace iocomp::writing
