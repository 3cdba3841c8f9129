// SPDX-License-Identifier: BSD-3-Clause
#include "compress/deflate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "compress/bench.h"

namespace iocomp::compress {
namespace {

TEST(Gzip, GivesBackWhatItGot) {
  if (!has_deflate()) {
    GTEST_SKIP() << "without zlib";
  }
  std::vector<std::byte> chunk(100000);
  for (std::size_t at = 0; at < chunk.size(); ++at) {
    chunk[at] = static_cast<std::byte>(at / 7);
  }
  for (const std::size_t bytes : {std::size_t{1}, chunk.size()}) {
    Bench bench;
    const auto packed = pack_deflate(std::span{chunk}.first(bytes), 4, Wrapping::gzip, bench);
    std::vector<std::byte> stored{packed.begin(), packed.end()};
    ASSERT_GT(stored.size(), 2U);
    EXPECT_EQ(stored[0], std::byte{0x1F});  // RFC 1952
    EXPECT_EQ(stored[1], std::byte{0x8B});
    std::vector<std::byte> found(bytes);
    unpack_gzip(stored, found);
    EXPECT_TRUE(std::ranges::equal(found, std::span{chunk}.first(bytes)));
    std::vector<std::byte> longer(bytes + 1);
    EXPECT_THROW(unpack_gzip(stored, longer), Error);
    for (std::size_t less = 0; less < stored.size(); less += 1 + stored.size() / 50) {
      EXPECT_THROW(unpack_gzip(std::span{stored}.first(less), found), Error) << less;
    }
    stored.push_back(std::byte{});
    EXPECT_THROW(unpack_gzip(stored, found), Error);
  }
  Bench bench;
  EXPECT_LT(pack_deflate(chunk, 9, Wrapping::gzip, bench).size(), chunk.size() / 2);
  stored[stored.size() / 2] ^= std::byte{16};
  EXPECT_THROW(unpack_gzip(stored, chunk), Error);
  std::vector<std::byte> shorter(chunk.size() - 1);
  gzip(chunk, 4, stored);
  EXPECT_THROW(unpack_gzip(stored, shorter), Error);
}

}  // namespace
}  // namespace iocomp::compress
