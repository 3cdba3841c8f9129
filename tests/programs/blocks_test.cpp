// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "blocks/block.h"

namespace iocomp::apps::blocks {
namespace {

TEST(PartOf, CutsEveryElementToOneRank) {
  const Extents shape{7, 5, 3};
  const std::vector<int> grid{3, 2, 2};
  std::set<std::int64_t> seen;
  for (int rank = 0; rank < 12; ++rank) {
    const Box box = part_of(shape, grid, rank);
    for (std::int64_t x = 0; x < box.count[0]; ++x) {
      for (std::int64_t y = 0; y < box.count[1]; ++y) {
        for (std::int64_t z = 0; z < box.count[2]; ++z) {
          const std::int64_t index =
              ((box.start[0] + x) * 5 + box.start[1] + y) * 3 + box.start[2] + z;
          EXPECT_TRUE(seen.insert(index).second) << index;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 7U * 5U * 3U);
  EXPECT_EQ(*seen.rbegin(), 7 * 5 * 3 - 1);
}

TEST(PartOf, LeavesRanksWithoutElementsWhereThereAreMoreRanksThanElements) {
  EXPECT_EQ(part_of({2, 1}, {3, 1}, 2).elements(), 0);
}

TEST(Fill, TellsPlaceAndTime) {
  const Extents shape{2, 3};
  std::vector<double> values(2);
  fill(shape, {{1, 1}, {1, 2}}, {10}, values);
  EXPECT_EQ(values, (std::vector<double>{4 + 10 * 6, 5 + 10 * 6}));
}

TEST(Fill, RefusesValuesThatADoubleCannotHold) {
  std::vector<double> values;
  const Box nothing{{0, 0}, {0, 0}};
  EXPECT_NO_THROW(fill({1 << 30, 1 << 20}, nothing, {7}, values));
  EXPECT_THROW(fill({1 << 30, 1 << 20}, nothing, {8}, values), std::runtime_error);
}

TEST(MistakeIn, FindsOneWrongElementAndSaysWhichItIs) {
  const Extents shape{4, 4};
  const Box box{{1, 2}, {3, 2}};
  std::vector<double> values(6);
  fill(shape, box, {3}, values);
  EXPECT_EQ(mistake_in(shape, box, {3}, values), "");
  values[3] += 1;
  EXPECT_EQ(mistake_in(shape, box, {3}, values),
            "1 elements are wrong, the first is number 11 of 4 x 4, which is 60 instead of 59");
}

TEST(Fill, MakesTheLastBitsLookRandomAndTheSameEachTime) {
  const Extents shape{1000};
  const Box box{{0}, {1000}};
  std::vector<double> smooth(1000);
  fill(shape, box, {1}, smooth);
  std::vector<double> noisy(1000);
  fill(shape, box, {1, 40}, noisy);
  EXPECT_EQ(mistake_in(shape, box, {1, 40}, noisy), "");
  EXPECT_NE(mistake_in(shape, box, {1, 39}, noisy), "");
  std::set<std::uint64_t> last_bits;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(noisy[i]);
    EXPECT_EQ(bits >> 40U, std::bit_cast<std::uint64_t>(smooth[i]) >> 40U);
    last_bits.insert(bits & ((std::uint64_t{1} << 40U) - 1));
  }
  EXPECT_EQ(last_bits.size(), noisy.size());
}

TEST(MistakeIn, FindsTheStepBefore) {
  const Extents shape{2, 2};
  const Box box{{0, 0}, {2, 2}};
  std::vector<double> values(4);
  fill(shape, box, {0}, values);
  EXPECT_EQ(mistake_in(shape, box, {1}, values).substr(0, 20), "4 elements are wrong");
}

}  // namespace
}  // namespace iocomp::apps::blocks
