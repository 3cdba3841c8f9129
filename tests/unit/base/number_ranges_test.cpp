// SPDX-License-Identifier: BSD-3-Clause
#include "base/number_ranges.h"

#include <gtest/gtest.h>

namespace iocomp {
namespace {

TEST(NumberRanges, ShortenRunsOfNeighbours) {
  EXPECT_EQ(number_ranges({}), "");
  EXPECT_EQ(number_ranges({5}), "5");
  EXPECT_EQ(number_ranges({0, 1, 2, 3, 128}), "0-3,128");
  EXPECT_EQ(number_ranges({0, 2, 3, 5, 6, 7}), "0,2-3,5-7");
}

}  // namespace
}  // namespace iocomp
