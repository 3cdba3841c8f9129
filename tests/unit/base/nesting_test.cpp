// SPDX-License-Identifier: BSD-3-Clause
#include "base/nesting.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/error.h"

namespace iocomp {
namespace {

std::string nested(std::size_t depth, char open = '[') { return std::string(depth, open); }

TEST(Nesting, EndsAtALimit) {
  EXPECT_NO_THROW(check_nesting(nested(deepest_nesting)));
  EXPECT_THROW(check_nesting(nested(deepest_nesting + 1)), Error);
  EXPECT_THROW(check_nesting(nested(deepest_nesting + 1, '{')), Error);
  EXPECT_THROW(check_nesting(nested(100'000)), Error);
}

TEST(Nesting, CountsNoBracketsOfTexts) {
  EXPECT_NO_THROW(check_nesting('"' + nested(100) + '"'));
  EXPECT_NO_THROW(check_nesting("[\"\\\"" + nested(100) + "\"]"));
  EXPECT_THROW(check_nesting("\"\\\\\"" + nested(100)), Error);
}

TEST(Nesting, CountsWhatIsOpenAtATime) {
  std::string siblings;
  for (int i = 0; i < 1000; ++i) {
    siblings += "[{}],";
  }
  EXPECT_NO_THROW(check_nesting(siblings));
}

}  // namespace
}  // namespace iocomp
