// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/copy_memory.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "client/tickets.h"

namespace iocomp::client {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

TEST(CopyMemory, CountsCopiesUntilTheyAreGone) {
  CopyMemory memory{nullptr, 4 * mib};
  Copy small = memory.take(100, 0);
  {
    const Copy large = memory.take(3 * mib, 0);
    EXPECT_EQ(memory.used_bytes(), 3 * mib + 100);
    EXPECT_TRUE(memory.has_room(mib - 100));
    EXPECT_FALSE(memory.has_room(mib));
  }
  EXPECT_EQ(memory.used_bytes(), 100U);
  small.reset();
  EXPECT_EQ(memory.used_bytes(), 0U);
}

TEST(CopyMemory, HasOneBoundForWhatIsKeptAndWhatGoesToTheDisk) {
  CopyMemory memory{nullptr, 4 * mib};
  const Copy kept = memory.take(2 * mib, 0);
  Copy first = memory.try_take_for_disk(mib, 0);
  EXPECT_EQ(memory.copies_for_disk(), 1U);
  EXPECT_TRUE(memory.try_take_for_disk(mib, 0));
  EXPECT_FALSE(memory.try_take_for_disk(mib + 1, 0));
  first.reset();
  EXPECT_EQ(memory.copies_for_disk(), 0U);
  EXPECT_EQ(memory.used_bytes(), 2 * mib);
}

TEST(CopyMemory, AlwaysHasOneCopyForTheDisk) {
  CopyMemory memory{nullptr, 4 * mib};
  const Copy kept = memory.take(4 * mib, 0);
  const Copy first = memory.try_take_for_disk(mib, 0);
  EXPECT_TRUE(first);
  EXPECT_FALSE(memory.try_take_for_disk(1, 0));
}

TEST(CopyMemory, BeginsWhereItWasAsked) {
  CopyMemory memory{nullptr, 64 * mib};
  for (const std::size_t remainder : {std::size_t{0}, std::size_t{8}, std::size_t{4095}}) {
    const Copy copy = memory.take(20 * mib, remainder);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.get()) % 4096, remainder);
    const Copy disk = memory.try_take_for_disk(5000, remainder);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(disk.get()) % 4096, remainder);
  }
}

TEST(CopyMemory, RefusesWhatCanNeverFit) {
  CopyMemory memory{nullptr, mib};
  EXPECT_THROW((void)memory.take(mib + 1, 0), Error);
  EXPECT_THROW((void)memory.try_take_for_disk(mib + 1, 0), Error);
}

TEST(CopyMemory, UsesTheSameBytesAgain) {
  CopyMemory memory{nullptr, 64 * mib};
  Copy copy = memory.take(mib, 0);
  const std::byte* const first = copy.get();
  copy.reset();
  EXPECT_EQ(memory.take(mib, 0).get(), first);
}

}  // namespace
}  // namespace iocomp::client
