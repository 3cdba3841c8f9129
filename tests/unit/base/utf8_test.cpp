// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace iocomp {
namespace {

TEST(Utf8, TakesWhatIsAndNothingElse) {
  for (const char* text : {"", "plain", "gr\u00fc\u00df", "\u6ce2", "\U0001F600", "\U0010FFFF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text :
       {"gr\xfc\xdf", "\xff", "\x80", "\xc3", "\xe2\x82", "\xc0\x80", "\xe0\x80\x80",
        "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

}  // namespace
}  // namespace iocomp
