// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace iocomp {
namespace {

TEST(CodeName, IsDifferentForEveryCode) {
  std::set<std::string> names;
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99}) {
    names.insert(code_name(code));
  }
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(names.count("unknown code"), 0U);
  EXPECT_EQ(names.count("storage failure"), 1U);
}

TEST(CodeName, IsUnknownForOtherNumbers) {
  EXPECT_STREQ(code_name(-1), "unknown code");
  EXPECT_STREQ(code_name(98), "unknown code");
  EXPECT_STREQ(code_name(1 << 30), "unknown code");
}

}  // namespace
}  // namespace iocomp
