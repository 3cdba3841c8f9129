// SPDX-License-Identifier: BSD-3-Clause
#include "contents/layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/error.h"

namespace iocomp::contents {
namespace {

constexpr bool one_file = true;

TEST(Layout, VariablesFollowInOrderOfDefinitionAtMultiplesOfTheAlignment) {
  Layout layout{4096, one_file};
  layout.define(0, 10, 0);
  layout.define(1, 5000, 0);
  layout.define(2, 4096, 0);
  EXPECT_EQ(layout.offset(0, 0), 0);
  EXPECT_EQ(layout.offset(1, 0), 4096);
  EXPECT_EQ(layout.offset(2, 0), 3 * 4096);
  EXPECT_EQ(layout.end(0), 4 * 4096);
}

TEST(Layout, StepsFollowOneAnother) {
  Layout layout{4096, one_file};
  layout.define(0, 10, 0);
  layout.define(1, 5000, 0);
  EXPECT_EQ(layout.offset(0, 1), 3 * 4096);
  EXPECT_EQ(layout.offset(1, 10), 30 * 4096 + 4096);
  EXPECT_EQ(layout.end(10), 30 * 4096 + 4096 + 5000);
}

TEST(Layout, EachStepOfItsOwnFileBeginsAtZero) {
  Layout layout{4096, !one_file};
  layout.define(0, 10, 0);
  layout.define(1, 5000, 3);
  EXPECT_EQ(layout.offset(0, 7), 0);
  EXPECT_EQ(layout.offset(1, 7), 4096);
  EXPECT_EQ(layout.end(2), 10);
}

TEST(Layout, ALaterVariableLeavesEarlierStepsAsTheyWere) {
  Layout layout{64, one_file};
  layout.define(0, 64, 0);
  layout.define(1, 64, 2);
  EXPECT_EQ(layout.offset(0, 1), 64);
  EXPECT_EQ(layout.offset(0, 2), 128);
  EXPECT_EQ(layout.offset(1, 2), 192);
  EXPECT_EQ(layout.offset(0, 3), 256);
  EXPECT_THROW((void)layout.offset(1, 1), Error);
}

TEST(Layout, ANewSizeHoldsFromItsStepOn) {
  Layout layout{64, one_file};
  layout.define(0, 64, 0);
  layout.define(1, 64, 0);
  layout.set_bytes(0, 200, 1);
  layout.set_bytes(0, 0, 3);
  EXPECT_EQ(layout.offset(1, 0), 64);
  EXPECT_EQ(layout.offset(1, 1), 128 + 256);
  EXPECT_EQ(layout.offset(0, 2), 128 + 320);
  EXPECT_EQ(layout.offset(1, 3), 128 + 2 * 320);
  EXPECT_EQ(layout.offset(1, 4), 128 + 2 * 320 + 64);
}

TEST(Layout, ASizeMayChangeTwiceInOneStep) {
  Layout layout{64, one_file};
  layout.define(0, 64, 0);
  layout.set_bytes(0, 1000, 5);
  layout.set_bytes(0, 64, 5);
  EXPECT_EQ(layout.offset(0, 6), 6 * 64);
}

TEST(Layout, PassesTheLimitsOf32Bits) {
  Layout layout{4096, one_file};
  const std::int64_t large = std::int64_t{5} << 40;
  layout.define(0, large, 0);
  layout.define(1, 8, 0);
  EXPECT_EQ(layout.offset(1, 1000), 1000 * (large + 4096) + large);
}

TEST(Layout, AFileWithoutVariablesIsEmpty) { EXPECT_EQ((Layout{4096, one_file}.end(3)), 0); }

TEST(Layout, ChangesOfThePastAreABug) {
  Layout layout{64, one_file};
  layout.define(0, 64, 4);
  EXPECT_THROW(layout.set_bytes(0, 1, 3), Error);
  EXPECT_THROW(layout.define(2, 1, 4), Error);
  EXPECT_THROW(layout.set_bytes(1, 1, 4), Error);
}

TEST(Layout, RefusesMoreBytesThan63BitsCountAndStaysAsItWas) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Layout layout{4096, one_file};
  layout.define(0, most / 2, 0);
  EXPECT_THROW(layout.define(1, most / 2, 0), Error);
  EXPECT_THROW(layout.define(1, most, 0), Error);
  EXPECT_THROW(layout.set_bytes(0, most - 1, 0), Error);
  EXPECT_EQ(layout.end(0), most / 2);
  layout.define(1, 10, 0);
  EXPECT_EQ(layout.end(0), layout.offset(1, 0) + 10);
  EXPECT_THROW((void)layout.offset(0, 2), Error);
}

}  // namespace
}  // namespace iocomp::contents
