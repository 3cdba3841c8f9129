// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/error.h"
#include "formats/frames/index.h"

namespace iocomp::formats::frames {
namespace {

// As iocomp 0.2 has written it.
std::string index_with(const std::string& frame) {
  return R"({"byte_order":"little","iocomp_frames":1,"variables":[)"
         R"({"compression":"none","frames":[[140,8,0,1]],"name":"s","shape":[],"shuffle":false,)"
         R"("type":"float64"},{"compression":"zstd","frames":[)" +
         frame + R"(],"name":"u","shape":[4,6],"shuffle":true,"type":"float32"}]})";
}

std::vector<std::byte> trailer_of(const std::string& json) {
  array::Checksum sum{array::ElementType::uint8};
  sum.add(std::as_bytes(std::span{json}));
  const std::uint64_t numbers[] = {json.size(), sum.value()};
  std::vector<std::byte> trailer(trailer_bytes);
  std::memcpy(trailer.data(), numbers, sizeof numbers);
  std::memcpy(trailer.data() + sizeof numbers, "iocompF1", 8);
  return trailer;
}

TEST(FramesIndex, TellsWhereElementsLie) {
  const auto json = index_with("[100,40,2,7,0,2,4,3]");
  const auto trailer = trailer_of(json);
  EXPECT_EQ(index_bytes(trailer, "file"), json.size());
  const auto index = index_from(json, trailer, 1000, "file");
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

TEST(FramesIndex, IsRefusedWhereItIsDamagedOrTellsOfOtherBytes) {
  const auto json = index_with("[100,40,2,7,0,2,4,3]");
  const auto trailer = trailer_of(json);
  EXPECT_NO_THROW(static_cast<void>(index_from(json, trailer, 148, "file")));
  EXPECT_THROW(static_cast<void>(index_from(json, trailer, 147, "file")), Error);
  for (std::size_t at = 0; at < json.size(); ++at) {
    auto other = json;
    other[at] ^= 1;
    EXPECT_THROW(static_cast<void>(index_from(other, trailer, 1000, "file")), Error) << at;
  }
  auto no_trailer = trailer;
  no_trailer.back() ^= std::byte{1};
  EXPECT_THROW(static_cast<void>(index_bytes(no_trailer, "file")), Error);
}

// Frames that their box does not have, and boxes that their variable does not have.
TEST(FramesIndex, IsRefusedWhereItContradictsItself) {
  for (const char* const frame :
       {"[100,40,2,11,0,2,4,3]", "[100,40,2,7,0,4,4,3]", "[-1,40,2,7,0,2,4,3]",
        "[100,40,-1,7,0,2,4,3]", "[100,40,2,7,0,2,4]"}) {
    const auto json = index_with(frame);
    EXPECT_THROW(static_cast<void>(index_from(json, trailer_of(json), 1000, "file")), Error)
        << frame;
  }
}

}  // namespace
}  // namespace iocomp::formats::frames
