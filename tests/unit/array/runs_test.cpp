// SPDX-License-Identifier: BSD-3-Clause
#include "array/runs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "array/run_list.h"
#include "random_block.h"

namespace iocomp::array {
namespace {

std::vector<Run> runs_of(const Shape& shape, const Box& box, std::int64_t first,
                         std::int64_t count) {
  std::vector<Run> runs;
  RunCursor cursor{shape, box, first, count};
  for (Run run; cursor.next(run);) {
    runs.push_back(run);
  }
  return runs;
}

TEST(RunCursor, VisitsEveryElementInOrderInTheLongestRuns) {
  const std::uint32_t seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937_64 generator{seed};
  for (int i = 0; i < 3000; ++i) {
    const RandomBlock block = random_block(generator);
    const auto all = static_cast<std::int64_t>(block.indices.size());
    const std::int64_t first = draw(generator, 0, all);
    const std::int64_t count = draw(generator, 0, all - first);
    SCOPED_TRACE(text(block.box) + " in " + text(block.shape) + ", " + std::to_string(count) +
                 " from " + std::to_string(first));
    std::vector<std::int64_t> visited;
    std::int64_t end_of_last = -1;
    for (const array::Run& run : runs_of(block.shape, block.box, first, count)) {
      ASSERT_GT(run.elements, 0);
      ASSERT_NE(run.index, end_of_last) << "two runs that touch";
      end_of_last = run.index + run.elements;
      for (std::int64_t n = 0; n < run.elements; ++n) {
        visited.push_back(run.index + n);
      }
    }
    const auto begin = block.indices.begin() + first;
    ASSERT_EQ(visited, std::vector<std::int64_t>(begin, begin + count));
  }
}

TEST(RunCursor, StaysAtItsEnd) {
  RunCursor cursor{Shape{}, Box{}, 0, 1};
  array::Run run;  // testing::Test has a member of that name
  EXPECT_TRUE(cursor.next(run));
  EXPECT_EQ(run.elements, 1);
  EXPECT_FALSE(cursor.next(run));
  EXPECT_FALSE(cursor.next(run));
}

TEST(RunCursor, YieldsAWholeArrayBeyond40BitsAsOneRun) {
  const std::vector<std::int64_t> extents{std::int64_t{1} << 20, std::int64_t{1} << 11,
                                          std::int64_t{1} << 12};
  const Shape shape = make_shape(3, extents.data());
  const std::vector<std::int64_t> start(3, 0);
  const Box box = make_box(shape, start.data(), extents.data());
  const auto runs = runs_of(shape, box, 0, elements(box));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].index, 0);
  EXPECT_EQ(runs[0].elements, std::int64_t{1} << 43);
}

TEST(RunCursor, StartsAnywhereInAnArrayBeyond40Bits) {
  const std::int64_t side = std::int64_t{1} << 21;
  const std::vector<std::int64_t> extents{side, side};
  const Shape shape = make_shape(2, extents.data());
  const std::vector<std::int64_t> start{10, 1};
  const std::vector<std::int64_t> count{side - 10, side - 1};
  const Box box = make_box(shape, start.data(), count.data());
  const std::int64_t first = (side - 12) * (side - 1) + 7;
  const auto runs = runs_of(shape, box, first, side);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].index, (side - 2) * side + 1 + 7);
  EXPECT_EQ(runs[0].elements, side - 1 - 7);
  EXPECT_EQ(runs[1].index, (side - 1) * side + 1);
  EXPECT_EQ(runs[1].elements, 8);
}

TEST(RunCursor, WalksAnEmptyBoxBesideHugeExtents) {
  const std::int64_t large = std::int64_t{1} << 40;
  const std::vector<std::int64_t> extents{large, 0, large};
  const Shape shape = make_shape(3, extents.data());
  const std::vector<std::int64_t> zeros(3, 0);
  const Box box = make_box(shape, zeros.data(), extents.data());
  EXPECT_TRUE(runs_of(shape, box, 0, elements(box)).empty());
}

TEST(RunList, CountsToTheLastIndexOf63Bits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  RunList runs;
  runs.append({0, most / 2});
  runs.append({most / 2 + 5, most / 2 - 4});
  EXPECT_EQ(runs.end(), most);
  EXPECT_EQ(runs.elements(), most - 5);
}

}  // namespace
}  // namespace iocomp::array
