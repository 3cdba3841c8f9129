// How far the index of a BP dataset leads, without ADIOS2.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/adios2/index.h"

namespace iocomp::formats::bp {
namespace {

constexpr auto all = std::numeric_limits<std::int64_t>::max();

using Bytes = std::vector<std::byte>;

void add(Bytes& bytes, const std::vector<std::uint64_t>& numbers) {
  const auto more = std::as_bytes(std::span{numbers});
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Bytes head(int version) {
  Bytes bytes(64);
  bytes[37] = static_cast<std::byte>(version);
  return bytes;
}

void add_record(Bytes& bytes, char letter, const std::vector<std::uint64_t>& numbers) {
  bytes.push_back(static_cast<std::byte>(letter));
  add(bytes, {8 * numbers.size()});
  add(bytes, numbers);
}

Bytes bp5() {
  auto bytes = head(5);
  add_record(bytes, 'w', {2, 1, 1, 0, 0});
  add_record(bytes, 's', {0, 100, 0, 7, 7});
  add_record(bytes, 's', {100, 50, 0, 7, 7});
  add_record(bytes, 'w', {3, 2, 2, 0, 0, 1});
  add_record(bytes, 's', {150, 25, 0, 7, 7, 7});
  return bytes;
}

TEST(Bp5Index, TellsWhereItsStepsEnd) {
  const auto bytes = bp5();
  const auto found = look_at_index(bytes, 5, all);
  EXPECT_EQ(found.steps, 3);
  EXPECT_EQ(found.bytes, std::ssize(bytes));
  EXPECT_EQ(found.metadata_bytes, 175);
  EXPECT_EQ(found.subfiles, 2);
  const auto kept = look_at_index(bytes, 5, 2);
  EXPECT_EQ(kept.steps, 2);
  EXPECT_EQ(kept.bytes, 64 + (9 + 40) + 2 * (9 + 40));
  EXPECT_EQ(kept.metadata_bytes, 150);
  EXPECT_EQ(kept.subfiles, 1);
}

TEST(Bp5Index, TakesWholeRecordsOnly) {
  const auto bytes = bp5();
  for (std::size_t length = 64; length < bytes.size(); ++length) {
    const auto found = look_at_index(std::span{bytes}.first(length), 5, all);
    EXPECT_LT(found.steps, 3);
    EXPECT_LE(found.bytes, static_cast<std::int64_t>(length));
    EXPECT_TRUE(found.bytes == 64 || found.bytes == 64 + 2 * 49 || found.bytes == 64 + 3 * 49);
  }
}

TEST(Bp4Index, HasARecordForEachStep) {
  auto bytes = head(4);
  add(bytes, {1, 0, 10, 20, 30, 40, 0, 0});
  add(bytes, {2, 0, 40, 50, 60, 90, 0, 0});
  EXPECT_EQ(look_at_index(bytes, 4, all).metadata_bytes, 90);
  EXPECT_EQ(look_at_index(bytes, 4, 1).metadata_bytes, 40);
  EXPECT_EQ(look_at_index(bytes, 4, 1).bytes, 128);
  bytes.pop_back();
  EXPECT_EQ(look_at_index(bytes, 4, all).steps, 1);
}

TEST(Index, OfAnotherVersionIsRefused) {
  EXPECT_THROW((void)look_at_index(head(4), 5, all), Error);
  EXPECT_THROW((void)look_at_index(head(5), 4, all), Error);
  EXPECT_EQ(look_at_index(Bytes(10), 5, all).steps, 0);
}

TEST(BlocksOfTypes, AreCountedAsFarAsTheyAreWhole) {
  Bytes bytes;
  add(bytes, {4, 6});
  bytes.resize(bytes.size() + 10);
  EXPECT_EQ(whole_blocks(bytes), 26);
  add(bytes, {1, 1});
  EXPECT_EQ(whole_blocks(bytes), 26);
  bytes.resize(bytes.size() + 2);
  EXPECT_EQ(whole_blocks(bytes), 44);
  EXPECT_EQ(whole_blocks({}), 0);
}

}  // namespace
}  // namespace iocomp::formats::bp
