// SPDX-License-Identifier: BSD-3-Clause
#include "steps/ends.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "steps/ended.h"

namespace iocomp::steps {
namespace {

class EndsOfThree : public testing::Test {
 protected:
  std::vector<Difference> told_;
  Ends ends_{3, [this](const Difference& difference) { told_.push_back(difference); }};

  static Ended one(std::int64_t step, std::int64_t events = 2) {
    return {step, events, 1, {{0, 1}}, {}};
  }
};

TEST_F(EndsOfThree, AStepIsEndedWhenAllHaveEndedIt) {
  EXPECT_FALSE(ends_.end(one(0), "a"));
  EXPECT_FALSE(ends_.end(one(1), "a"));
  EXPECT_FALSE(ends_.end(one(0), "b"));
  const auto sum = ends_.end(one(0), "c");
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->step, 0);
  EXPECT_EQ(sum->pieces.at(0).second, 3);
  EXPECT_TRUE(told_.empty());
}

TEST_F(EndsOfThree, SeveralMembersMayBeSummedAlready) {
  EXPECT_FALSE(ends_.end({0, 2, 2, {}, {}}, "two"));
  EXPECT_TRUE(ends_.end(one(0), "c"));
}

TEST_F(EndsOfThree, TellWhoHasOtherDefinitions) {
  (void)ends_.end(one(4, 2), "a");
  (void)ends_.end(one(4, 3), "compute rank 7");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].from_step, 4);
  EXPECT_NE(told_[0].what.find("compute rank 7"), std::string::npos);
}

TEST_F(EndsOfThree, AnEndThatOthersDoNotCallLeavesTheStepsBefore) {
  (void)ends_.end(one(5), "a");
  (void)ends_.close(one(6), "a");
  (void)ends_.close(one(5), "b");
  (void)ends_.close(one(5), "c");
  ASSERT_FALSE(told_.empty());
  for (const auto& difference : told_) {
    EXPECT_EQ(difference.from_step, 5);
  }
}

// A rank that has ended the step may wait for it, and one that has closed waits for all.
TEST_F(EndsOfThree, AnEndThatOthersDoNotCallIsToldBeforeAllHaveSpoken) {
  (void)ends_.end(one(5), "a");
  EXPECT_TRUE(told_.empty());
  (void)ends_.close(one(5), "b");
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].from_step, 5);
  (void)ends_.end(one(5), "c");
  EXPECT_EQ(told_.size(), 2U);
}

}  // namespace
}  // namespace iocomp::steps
