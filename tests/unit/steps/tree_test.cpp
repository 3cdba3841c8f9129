// SPDX-License-Identifier: BSD-3-Clause
#include "steps/tree.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace iocomp::steps {
namespace {

struct Shape {
  int size;
  int width;
};

class TreeOf : public testing::TestWithParam<Shape> {
 protected:
  [[nodiscard]] std::vector<Tree> trees() const {
    std::vector<Tree> all;
    for (int number = 0; number < GetParam().size; ++number) {
      all.emplace_back(GetParam().size, GetParam().width, number);
    }
    return all;
  }
};

TEST_P(TreeOf, EachIsBelowTheOneAboveIt) {
  const auto all = trees();
  int known = 1;  // the lead
  for (const auto& one : all) {
    EXPECT_LE(one.below().size(), static_cast<std::size_t>(GetParam().width));
    for (const auto& branch : one.below()) {
      const auto& below = all.at(static_cast<std::size_t>(branch.first));
      EXPECT_EQ(below.above(), one.number());
      EXPECT_EQ(below.here().end, branch.end);
      ++known;
    }
  }
  EXPECT_EQ(known, GetParam().size);
  EXPECT_EQ(all.front().above(), -1);
  EXPECT_EQ(all.front().here().size(), GetParam().size);
}

TEST_P(TreeOf, BranchesAreNextToOneAnotherAndOfTheSameSize) {
  for (const auto& one : trees()) {
    int next = one.number() + 1;
    for (const auto& branch : one.below()) {
      EXPECT_EQ(branch.first, next);
      EXPECT_LE(one.below().front().size() - branch.size(), 1);
      next = branch.end;
    }
    EXPECT_EQ(next, one.here().end);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, TreeOf,
                         testing::Values(Shape{1, 8}, Shape{2, 1}, Shape{5, 1}, Shape{9, 8},
                                         Shape{16, 8}, Shape{100, 3}, Shape{1024, 8}));

TEST(Tree, IsNoDeeperThanItMustBe) {
  int deepest = 0;
  for (int number = 0; number < 2048; ++number) {
    int depth = 0;
    for (int one = number; one > 0; one = Tree{2048, 8, one}.above()) {
      ++depth;
    }
    deepest = depth > deepest ? depth : deepest;
  }
  EXPECT_EQ(deepest, 4);
}

}  // namespace
}  // namespace iocomp::steps
