// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace iocomp {
namespace {

TEST(Nearest, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("files_a", "Files_keep"), 4U);
  EXPECT_EQ(edit_distance("files", "files_a"), 2U);
}

TEST(Nearest, DoesNotTellUpperFromLowerCase) { EXPECT_EQ(edit_distance("MODE", "mode"), 0U); }

TEST(Nearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("halfs", {"auto", "halves", "spread"}), "halves");
}

}  // namespace
}  // namespace iocomp
