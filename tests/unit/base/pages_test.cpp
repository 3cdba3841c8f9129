// SPDX-License-Identifier: BSD-3-Clause
#include "base/pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "base/huge_memory.h"

namespace iocomp {
namespace {

constexpr std::size_t bytes = std::size_t{8} << 20;

TEST(SmallPages, AreFoundWhereHugeOnesWereForbidden) {
  const HugeMemory memory{bytes, "a test"};
  ASSERT_EQ(madvise(memory.bytes().data(), bytes, MADV_NOHUGEPAGE), 0);
  std::memset(memory.bytes().data(), 1, bytes);
  EXPECT_EQ(small_page_bytes(memory.bytes()), bytes);
}

TEST(SmallPages, OfMemoryThatWasNotTouchedAreNone) {
  const HugeMemory memory{bytes, "a test"};
  EXPECT_EQ(small_page_bytes(memory.bytes()), 0);
}

TEST(SmallPages, OfAPartAreNoMoreThanThePart) {
  const HugeMemory memory{bytes, "a test"};
  ASSERT_EQ(madvise(memory.bytes().data(), bytes, MADV_NOHUGEPAGE), 0);
  std::memset(memory.bytes().data(), 1, bytes);
  EXPECT_EQ(small_page_bytes(memory.bytes().first(12345)), 12345);
}

}  // namespace
}  // namespace iocomp
