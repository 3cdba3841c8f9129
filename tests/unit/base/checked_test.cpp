// SPDX-License-Identifier: BSD-3-Clause
#include "base/checked.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"

namespace iocomp {
namespace {

TEST(CheckedCast, KeepsWhatFits) {
  EXPECT_EQ(checked_cast<int>(std::int64_t{-5}), -5);
  EXPECT_EQ(checked_cast<std::size_t>(std::int64_t{1} << 40), std::size_t{1} << 40);
}

TEST(CheckedCast, NamesTheValueThatDoesNotFit) {
  try {
    (void)checked_cast<int>(std::int64_t{1} << 31);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string{error.what()}.find("2147483648"), std::string::npos) << error.what();
  }
}

TEST(CheckedCast, RefusesNegativeCounts) {
  EXPECT_THROW((void)checked_cast<std::size_t>(std::int64_t{-1}), Error);
}

TEST(CheckedSizes, AreRefusedWhere63BitsDoNotHoldThem) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_sum(most - 1, 1), most);
  EXPECT_THROW((void)checked_sum(most, 1), Error);
  EXPECT_EQ(checked_product(most / 3, 3), most / 3 * 3);
  EXPECT_THROW((void)checked_product(most / 3 + 1, 3), Error);
  EXPECT_EQ(checked_round_up(4097, 4096), 8192);
  EXPECT_EQ(checked_round_up(most, 1), most);
  EXPECT_THROW((void)checked_round_up(most - 2, 4), Error);
}

}  // namespace
}  // namespace iocomp
