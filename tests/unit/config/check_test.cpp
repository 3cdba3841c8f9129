// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace iocomp::config {
namespace {

std::string complaint(const Key& row, const std::string& text) {
  try {
    check_value(row, row.name, {text, "environment X"});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_setting);
    return error.what();
  }
  return {};
}

TEST(Check, NamesKeyValueOriginAndChoicesAndGuesses) {
  const Key row{"placement.policy", ValueType::choice, "auto", "auto|halves|spread", ""};
  EXPECT_EQ(complaint(row, "halfs"),
            "placement.policy = \"halfs\" (environment X): allowed are auto, halves, spread; did "
            "you mean \"halves\"?");
}

TEST(Check, DoesNotGuessWhenNothingIsNear) {
  const Key row{"mode", ValueType::choice, "async", "async|sync", ""};
  EXPECT_EQ(complaint(row, "quickly"),
            "mode = \"quickly\" (environment X): allowed are async, sync");
}

TEST(Check, KeepsIntegersInTheirRange) {
  const Key row{"ratio", ValueType::integer, "1", "1..8", ""};
  EXPECT_EQ(complaint(row, "8"), "");
  EXPECT_EQ(complaint(row, "0"),
            "ratio = \"0\" (environment X): allowed is an integer from 1 to 8");
  EXPECT_NE(complaint(row, "9"), "");
  EXPECT_NE(complaint(row, "two"), "");
}

TEST(Check, KeepsSizesInTheirRange) {
  const Key row{"chunk", ValueType::bytes, "1 MiB", "4 KiB..", ""};
  EXPECT_EQ(complaint(row, "4 KiB"), "");
  EXPECT_EQ(complaint(row, "4095"),
            "chunk = \"4095\" (environment X): allowed is a size from 4 KiB on, such as 4096, 64 "
            "KiB or 1.5 GiB");
  EXPECT_NE(complaint(row, "12 parsecs"), "");
  EXPECT_NE(complaint(row, "-1"), "");
}

TEST(Check, KeepsNumbersInTheirRange) {
  const Key row{"deadline", ValueType::real, "600", "0..", ""};
  EXPECT_EQ(complaint(row, "0.5"), "");
  EXPECT_EQ(complaint(row, "-0.5"),
            "deadline = \"-0.5\" (environment X): allowed is a number from 0 on");
}

TEST(Check, RefusesAnEmptyTextWhereAValueIsNeeded) {
  const Key row{"early", ValueType::boolean, "true", "", ""};
  EXPECT_EQ(complaint(row, ""), "early = \"\" (environment X): allowed are true, false");
}

}  // namespace
}  // namespace iocomp::config
