// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "compress/shuffle.h"
#include "formats/frames/index.h"

namespace iocomp::formats::frames {
namespace {

Index an_index() {
  Index index;
  Stored& u = index["u"];
  u.type = array::ElementType::float32;
  u.shape = {.dimensions = 2, .extent = {4, 6}};
  u.is_compressed = u.is_shuffled = true;
  u.frames.push_back({100, 40, {{.dimensions = 2, .start = {0, 2}, .count = {4, 3}}, 2, 7}});
  index["s"].frames.push_back({140, 8, {{}, 0, 1}});
  return index;
}

Index read_back(const std::vector<std::byte>& ending, std::int64_t file_bytes) {
  const auto trailer = std::span{ending}.last(trailer_bytes);
  const std::size_t length = index_bytes(trailer, "file");
  const auto* const end = reinterpret_cast<const char*>(trailer.data());
  return index_from(std::string_view{end - length, length}, trailer, file_bytes, "file");
}

TEST(FramesIndex, IsReadBackFromTheEndOfTheFile) {
  const auto ending = ending_of(an_index());
  EXPECT_EQ(ending[0], std::byte{0x50});  // a frame that Zstandard skips, and how long it is
  EXPECT_EQ(ending[3], std::byte{0x18});
  EXPECT_EQ(std::to_integer<std::size_t>(ending[4]) + 256 * std::to_integer<std::size_t>(ending[5]),
            ending.size() - 8);
  const auto index = read_back(ending, 1000);
  const auto& u = index.at("u");
  EXPECT_EQ(u.type, array::ElementType::float32);
  EXPECT_EQ(u.shape, (array::Shape{.dimensions = 2, .extent = {4, 6}}));
  EXPECT_TRUE(u.is_compressed && u.is_shuffled);
  ASSERT_EQ(u.frames.size(), 1U);
  EXPECT_EQ(u.frames[0].offset, 100);
  EXPECT_EQ(u.frames[0].bytes, 40);
  EXPECT_EQ(u.frames[0].what.box, (array::Box{.dimensions = 2, .start = {0, 2}, .count = {4, 3}}));
  EXPECT_EQ(u.frames[0].what.first, 2);
  EXPECT_EQ(u.frames[0].what.count, 7);
  EXPECT_FALSE(index.at("s").is_compressed);
}

TEST(FramesIndex, OfSeveralWritersIsOne) {
  Index all = an_index();
  merge(all, text_of(an_index()));
  EXPECT_EQ(all.at("u").frames.size(), 2U);
  EXPECT_EQ(all.size(), 2U);
}

TEST(FramesIndex, IsRefusedWhereItIsDamagedOrTellsOfOtherBytes) {
  const auto ending = ending_of(an_index());
  EXPECT_NO_THROW(read_back(ending, 148));
  EXPECT_THROW(read_back(ending, 147), Error);
  for (std::size_t at = 8; at < ending.size(); ++at) {
    auto other = ending;
    other[at] ^= std::byte{1};
    const auto length = [&] { return index_bytes(std::span{other}.last(trailer_bytes), "file"); };
    if (at + trailer_bytes >= other.size() && at + trailer_bytes < other.size() + 8) {
      EXPECT_NE(length(), ending.size() - 8 - trailer_bytes);
    } else {
      EXPECT_THROW(read_back(other, 1000), Error) << at;
    }
  }
}

// Frames that their box does not have, and shapes that there are not.
TEST(FramesIndex, IsRefusedWhereItContradictsItself) {
  for (const auto change : {0, 1, 2, 3}) {
    Index index = an_index();
    Frame& frame = index["u"].frames[0];
    change == 0   ? void(frame.what.count = 11)
    : change == 1 ? void(frame.what.box.start[1] = 4)
    : change == 2 ? void(frame.offset = -1)
                  : void(frame.what.first = -1);
    EXPECT_THROW(read_back(ending_of(index), 1000), Error) << change;
  }
}

TEST(Shuffle, SortsBytesAndBack) {
  std::vector<std::byte> values(4 * 2500);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::byte>(i * 7);
  }
  std::vector<std::byte> sorted(values.size());
  std::vector<std::byte> back(values.size());
  compress::shuffle(values, 4, sorted.data());
  EXPECT_EQ(sorted[1], values[4]);
  EXPECT_EQ(sorted[2500], values[1]);
  compress::unshuffle(sorted, 4, back.data());
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace iocomp::formats::frames
