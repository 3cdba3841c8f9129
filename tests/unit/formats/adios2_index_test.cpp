// SPDX-License-Identifier: BSD-3-Clause
// The reach of the index of a BP dataset, without ADIOS2.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/adios2/index.h"

namespace iocomp::formats::bp {
namespace {

constexpr auto all = std::numeric_limits<std::int64_t>::max();

using Bytes = std::vector<std::byte>;

Bytes head(int version) {
  Bytes bytes(64);
  bytes[37] = static_cast<std::byte>(version);
  return bytes;
}

void add_record(Bytes& bytes, const std::vector<std::uint64_t>& numbers) {
  const auto more = std::as_bytes(std::span{numbers});
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Bytes two_steps() {
  auto bytes = head(4);
  add_record(bytes, {1, 0, 10, 20, 30, 40, 0, 0});
  add_record(bytes, {2, 0, 40, 50, 60, 90, 0, 0});
  return bytes;
}

TEST(Bp4Index, TellsWhereItsStepsEnd) {
  const auto bytes = two_steps();
  const auto found = look_at_index(bytes, all);
  EXPECT_EQ(found.steps, 2);
  EXPECT_EQ(found.bytes, std::ssize(bytes));
  EXPECT_EQ(found.metadata_bytes, 90);
  const auto kept = look_at_index(bytes, 1);
  EXPECT_EQ(kept.steps, 1);
  EXPECT_EQ(kept.bytes, 128);
  EXPECT_EQ(kept.metadata_bytes, 40);
}

TEST(Bp4Index, EndsBehindItsLastWholeRecord) {
  const auto bytes = two_steps();
  for (std::size_t length = 64; length < bytes.size(); ++length) {
    const auto found = look_at_index(std::span{bytes}.first(length), all);
    EXPECT_EQ(found.steps, length < 128 ? 0 : 1);
    EXPECT_EQ(found.bytes, length < 128 ? 64 : 128);
  }
}

TEST(Bp4Index, OfAnotherVersionIsRefused) {
  EXPECT_THROW((void)look_at_index(head(5), all), Error);
  EXPECT_EQ(look_at_index(Bytes(10), all).steps, 0);
}

}  // namespace
}  // namespace iocomp::formats::bp
