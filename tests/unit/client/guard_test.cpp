// SPDX-License-Identifier: BSD-3-Clause
#include "client/guard.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace iocomp::client {
namespace {

// A rank whose steps take `asynchronous` seconds, or `synchronous` ones where the guard waits, and
// which computes for `computing` seconds of each.
class Rank {
 public:
  Rank(double asynchronous, double synchronous, double computing, double core_share = 1)
      : asynchronous_{asynchronous},
        synchronous_{synchronous},
        computing_{computing},
        guard_{core_share} {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      waited_ += guard_.wants_to_wait() ? 1 : 0;
      wall_ += guard_.wants_to_wait() ? synchronous_ : asynchronous_;
      cpu_ += computing_;
      guard_.step_ended(wall_, cpu_);
    }
  }
  [[nodiscard]] Guard& guard() { return guard_; }
  [[nodiscard]] int waited() const { return waited_; }

 private:
  double asynchronous_;
  double synchronous_;
  double computing_;
  double wall_ = 100;
  double cpu_ = 50;
  int waited_ = 0;
  Guard guard_;
};

TEST(Guard, LeavesARankAloneThatComputes) {
  Rank rank{1.0, 1.5, 0.95};
  rank.run(100);
  EXPECT_EQ(rank.waited(), 0);
  EXPECT_FALSE(rank.guard().take_story());
}

TEST(Guard, LeavesRanksAloneThatShareACore) {
  Rank rank{1.0, 1.5, 0.45, 0.5};
  rank.run(100);
  EXPECT_EQ(rank.waited(), 0);
  Rank kept_from_it{1.0, 1.5, 0.2, 0.5};
  kept_from_it.run(100);
  EXPECT_GT(kept_from_it.waited(), 0);
}

TEST(Guard, GivesUpAtTheFirstStepThatIsMuchSlower) {
  Rank rank{1.0, 1.5, 0.3};
  rank.run(100);
  EXPECT_EQ(rank.waited(), 2) << "one with something of both, one to compare";
  EXPECT_TRUE(rank.guard().take_story());
}

// Their median counts, in whatever order they came.
TEST(Guard, AFewSlowStepsDoNotCount) {
  for (std::size_t slow = 0; slow < 8; ++slow) {
    Guard guard{1};
    double wall = 100;
    double cpu = 50;
    for (std::size_t i = 0; i < 100 && !guard.wants_to_wait(); ++i) {
      wall += i % 8 == slow ? 9.0 : 2.0;
      cpu += 0.5;
      guard.step_ended(wall, cpu);
    }
    for (std::size_t i = 0; i < 100; ++i) {
      wall += i % 8 == slow ? 9.0 : 1.0;
      cpu += 0.5;
      guard.step_ended(wall, cpu);
      if (const auto story = guard.take_story()) {
        EXPECT_NE(story->find("2.0000 s asynchronously"), std::string::npos) << *story;
        break;
      }
    }
  }
}

TEST(Guard, KeepsTheSynchronousWayWhereItIsFaster) {
  Rank rank{2.0, 1.5, 0.8};
  rank.run(100);
  EXPECT_TRUE(rank.guard().wants_to_wait());
  EXPECT_GT(rank.waited(), 80);
  const auto story = rank.guard().take_story();
  ASSERT_TRUE(story);
  EXPECT_NE(story->find("2.0000 s asynchronously and 1.5000 s synchronously"), std::string::npos);
  EXPECT_NE(story->find("goes on synchronously"), std::string::npos);
  EXPECT_FALSE(rank.guard().take_story()) << "it is told once";
}

TEST(Guard, GoesBackWhereTheSynchronousWayIsNoFaster) {
  Rank rank{1.5, 1.5, 0.7};
  rank.run(100);
  EXPECT_FALSE(rank.guard().wants_to_wait());
  EXPECT_EQ(rank.waited(), Guard::steps_to_compare + 1);
  EXPECT_NE(rank.guard().take_story()->find("goes on asynchronously"), std::string::npos);
}

TEST(Guard, DoesNotMindASlowStepNowAndThen) {
  Guard guard;
  double wall = 0;
  double cpu = 0;
  for (int step = 0; step < 100; ++step) {
    wall += step % 4 == 0 ? 3.0 : 1.0;
    cpu += 1.0;
    guard.step_ended(wall, cpu);
    EXPECT_FALSE(guard.wants_to_wait());
  }
}

}  // namespace
}  // namespace iocomp::client
