// SPDX-License-Identifier: BSD-3-Clause
#include "formats/sub_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"

namespace iocomp::formats {
namespace {

using array::Box;

// The indices of a box in its packed order, as one number each (digits of base 100).
std::vector<std::int64_t> indices(const Box& box) {
  std::vector<std::int64_t> all{0};
  for (int d = 0; d < box.dimensions; ++d) {
    std::vector<std::int64_t> longer;
    const auto dimension = static_cast<std::size_t>(d);
    for (const auto prefix : all) {
      for (std::int64_t i = 0; i < box.count.at(dimension); ++i) {
        longer.push_back(prefix * 100 + box.start.at(dimension) + i);
      }
    }
    all = longer;
  }
  return all;
}

std::vector<std::int64_t> indices(const std::vector<Box>& boxes) {
  std::vector<std::int64_t> all;
  for (const auto& box : boxes) {
    const auto more = indices(box);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

TEST(SubBoxes, TogetherAreTheRangeInItsOrder) {
  const Box box{3, {5, 7, 2}, {3, 4, 5}};
  const auto all = indices(box);
  const auto size = static_cast<std::int64_t>(all.size());
  for (std::int64_t first = 0; first <= size; ++first) {
    for (std::int64_t count = 0; first + count <= size; ++count) {
      const auto boxes = sub_boxes(box, first, count);
      const std::vector<std::int64_t> wanted(all.begin() + first, all.begin() + first + count);
      ASSERT_EQ(indices(boxes), wanted) << first << " + " << count;
      ASSERT_LE(boxes.size(), 5U);
    }
  }
}

TEST(SubBoxes, AWholeBoxStaysWhole) {
  const Box box{2, {1, 1}, {30, 40}};
  EXPECT_EQ(sub_boxes(box, 0, 1200), std::vector<Box>{box});
}

TEST(SubBoxes, AScalarIsItself) { EXPECT_EQ(sub_boxes(Box{}, 0, 1), std::vector<Box>{Box{}}); }

TEST(SubBoxes, NothingOfABoxIsNoBox) {
  EXPECT_TRUE(sub_boxes(Box{2, {}, {0, 4}}, 0, 0).empty());
  EXPECT_TRUE(sub_boxes(Box{2, {}, {3, 4}}, 5, 0).empty());
}

}  // namespace
}  // namespace iocomp::formats
