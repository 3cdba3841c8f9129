// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/hdf5/encoding.h"

namespace iocomp::formats::h5 {
namespace {

std::uint32_t checksum_of(std::string_view text) {
  return checksum(std::as_bytes(std::span{text}));
}

// From the driver in Bob Jenkins' lookup3.c.
TEST(Hdf5Encoding, ChecksumsAreThoseOfLookup3) {
  EXPECT_EQ(checksum_of(""), 0xdeadbeefU);
  EXPECT_EQ(checksum_of("Four score and seven years ago"), 0x17770551U);
}

TEST(Hdf5Encoding, ASuperblockFitsIntoASectorAndEndsWithItsChecksum) {
  const auto bytes = superblock(0x1234, 0x56789a);
  ASSERT_EQ(std::ssize(bytes), superblock_bytes);
  EXPECT_EQ(number_at(bytes, 28, 8), 0x56789aU);
  EXPECT_EQ(number_at(bytes, 36, 8), 0x1234U);
  EXPECT_EQ(number_at(bytes, 44, 4), checksum(std::span{bytes}.first(44)));
}

}  // namespace
}  // namespace iocomp::formats::h5
