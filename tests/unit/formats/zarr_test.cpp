// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "compress/bench.h"
#include "compress/zstd.h"
#include "contents/json_elements.h"
#include "contents/variable.h"
#include "formats/extent.h"
#include "formats/format.h"
#include "formats/zarr/array.h"
#include "formats/zarr/attributes.h"
#include "formats/zarr/blosc.h"
#include "formats/zarr/crc32c.h"
#include "formats/zarr/shard_index.h"

namespace iocomp::formats::zarr {
namespace {

Array some_array() {
  Array array;
  array.type = array::ElementType::float32;
  array.shape = {3, 10, 4};
  array.shard = {1, 12, 4};
  array.chunk = {1, 3, 4};
  array.fill.resize(sizeof(float));
  array.dimensions = {"time", "y", "x"};
  return array;
}

template <typename Value>
Attribute attribute_of(array::ElementType type, const std::vector<Value>& values) {
  const auto bytes = std::as_bytes(std::span{values});
  return {type, false, {bytes.begin(), bytes.end()}};
}

// RFC 3720, B.4.
TEST(Crc32c, IsThatOfIscsi) {
  EXPECT_EQ(crc32c(std::as_bytes(std::span{std::string_view{"123456789"}})), 0xE3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8A9136AAU);
  EXPECT_EQ(crc32c({}), 0U);
}

std::vector<std::byte> blosc_of(std::span<const std::byte> chunk, std::size_t element_bytes) {
  compress::Bench bench;
  std::vector<std::byte> stored;
  blosc(chunk, element_bytes, {.method = Compression::Method::zstd, .level = 3}, bench, stored);
  return stored;
}

TEST(Blosc, GivesBackWhatItGot) {
  if (!compress::has_zstd()) {
    GTEST_SKIP() << "without zstd";
  }
  std::vector<double> values(4099);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i);
  }
  const auto chunk = std::as_bytes(std::span{values});
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, values.size()}) {
    const auto part = chunk.first(elements * sizeof(double));
    const auto stored = blosc_of(part, sizeof(double));
    std::vector<std::byte> back(part.size());
    unblosc(stored, back);
    EXPECT_TRUE(std::ranges::equal(back, part)) << elements;
    EXPECT_LE(stored.size(), part.size() + 16);
  }
  EXPECT_LT(blosc_of(chunk, sizeof(double)).size(), chunk.size() / 5);
}

// Each byte of the header, of the places and of the lengths is spoilt; and it is cut anywhere.
TEST(Blosc, RefusesWhatIsDamaged) {
  if (!compress::has_zstd()) {
    GTEST_SKIP() << "without zstd";
  }
  const std::vector<std::byte> chunk(4096, std::byte{7});
  const auto stored = blosc_of(chunk, 8);
  std::vector<std::byte> back(chunk.size());
  for (std::size_t length = 0; length < stored.size(); ++length) {
    EXPECT_THROW(unblosc(std::span{stored}.first(length), back), Error) << length;
  }
  for (std::size_t at = 4; at < std::min<std::size_t>(stored.size(), 24); ++at) {
    for (const auto spoil : {std::byte{0x01}, std::byte{0x80}, std::byte{0xFF}}) {
      auto damaged = stored;
      damaged[at] ^= spoil;
      EXPECT_THROW(unblosc(damaged, back), Error) << at;
    }
  }
  std::vector<std::byte> longer(chunk.size() + 8);
  EXPECT_THROW(unblosc(stored, longer), Error);
}

TEST(ShardIndex, TellsWhereChunksLie) {
  const std::vector<Extent> chunks{{0, 100}, no_chunk, {100, 28}};
  const auto index = index_of(chunks);
  ASSERT_EQ(std::ssize(index), index_bytes(3));
  EXPECT_EQ(index[16], std::byte{0xFF});  // of one that is not there
  const auto found = chunks_from(index, 128 + std::ssize(index));
  ASSERT_EQ(found.size(), chunks.size());
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    EXPECT_EQ(found[i].offset, chunks[i].offset);
    EXPECT_EQ(found[i].bytes, chunks[i].bytes);
  }
}

TEST(ShardIndex, IsRefusedWhereItIsDamaged) {
  const auto index = index_of(std::vector<Extent>{{0, 100}, {100, 28}});
  EXPECT_THROW((void)chunks_from(index, 127), Error);  // the file is shorter
  for (std::size_t byte = 0; byte < index.size(); ++byte) {
    auto damaged = index;
    damaged[byte] ^= std::byte{1};
    EXPECT_THROW((void)chunks_from(damaged, 1 << 20), Error) << byte;
  }
}

TEST(ZarrArray, IsWhatItsMetadataTell) {
  Array array = some_array();
  EXPECT_TRUE(array.has_time());
  EXPECT_EQ(array.file_of({2, 0, 0}), "c.2.0.0");
  EXPECT_EQ(array.chunk_bytes(), 48);
  EXPECT_EQ(array.chunks_in_shard(), 4);
  for (const bool is_sharded : {true, false}) {
    array.is_sharded = is_sharded;
    array.chunk = is_sharded ? array.chunk : array.shard;
    const Json told = json(array);
    EXPECT_EQ(json(array_from(told)), told);
  }
}

TEST(ZarrArray, HasFilesWithOtherNamesToo) {
  Array array = some_array();
  array.separator = '/';
  EXPECT_EQ(array.file_of({2, 0, 0}), "c/2/0/0");
  array.has_prefix = false;
  EXPECT_EQ(array.file_of({2, 0, 0}), "2/0/0");
  EXPECT_EQ(array.file_of({}), "0");
  EXPECT_EQ(Array{}.file_of({}), "c");
}

// Whatever is changed in it, nothing but an error comes of it.
TEST(ZarrArray, IsRefusedWhereItsMetadataAreOdd) {
  const Json told = json(some_array());
  for (const auto& [name, value] : told.items()) {
    for (const Json& odd :
         {Json(nullptr), Json(-1), Json("odd"), Json::array({0}), Json::object()}) {
      if (name == "attributes" || name == "dimension_names" || name == "storage_transformers") {
        continue;
      }
      if (name == "fill_value" && odd.is_number()) {
        continue;
      }
      Json changed = told;
      changed[name] = odd;
      EXPECT_THROW((void)array_from(changed), Error) << name << ": " << odd.dump();
    }
  }
  Json huge = told;
  huge["chunk_grid"]["configuration"]["chunk_shape"] = {1, std::int64_t{1} << 40,
                                                        std::int64_t{1} << 40};
  huge["codecs"] = Json::array({{{"name", "bytes"}, {"configuration", {{"endian", "little"}}}}});
  EXPECT_THROW((void)array_from(huge), Error);
  Json indivisible = told;
  indivisible["codecs"][0]["configuration"]["chunk_shape"] = {1, 5, 4};
  EXPECT_THROW((void)array_from(indivisible), Error);
}

// Calls `judge` once for each member of each object within, which has another name then.
void rename_each(Json& within, const std::function<void(const std::string&)>& judge) {
  const auto before = within;
  for (const auto& [name, value] : before.items()) {
    if (within.is_object() && name != "attributes") {
      within.erase(name);
      within[name + "x"] = value;
      judge(name);
      within = before;
    }
    if (value.is_structured() && name != "attributes") {
      rename_each(within.is_object() ? within[name] : within[std::stoul(name)], judge);
    }
  }
}

// A reader that takes the usual for a member that it misses may find other values.
TEST(ZarrArray, IsRefusedWhereAMemberHasAnotherName) {
  std::vector<Array> arrays(4, some_array());
  arrays[1].compression = {.method = Compression::Method::zstd, .level = 3};
  arrays[2].compression = {.method = Compression::Method::zstd, .level = 3, .shuffle = false};
  arrays[3].compression = {.method = Compression::Method::deflate, .level = 3, .shuffle = false};
  arrays[3].has_checksums = true;
  for (const auto& array : arrays) {
    Json told = json(array);
    EXPECT_NO_THROW((void)array_from(told));
    rename_each(told, [&](const std::string& name) {
      EXPECT_THROW((void)array_from(told), Error) << name << " in " << told.dump();
    });
    told["of_others"] = {{"must_understand", false}};
    EXPECT_NO_THROW((void)array_from(told));
  }
}

TEST(ZarrAttributes, AreWhatXarrayWants) {
  using array::ElementType;
  Variable variable;
  variable.type = ElementType::float32;
  variable.fill_value = attribute_of<float>(ElementType::float32, {-1.5F});
  Attribute text{ElementType::uint8, true, {}};
  text.values = {std::byte{'m'}};
  const Attributes all{{"_FillValue", *variable.fill_value},
                       {"dimensions", text},
                       {"units", text},
                       {"one", attribute_of<std::int32_t>(ElementType::int32, {3})},
                       {"two", attribute_of<double>(ElementType::float64, {0.5, INFINITY})},
                       {"none", attribute_of<double>(ElementType::float64, {})}};
  Json laid = Json::object();
  lay_over(laid, all, &variable);
  EXPECT_EQ(laid, (Json{{"_FillValue", "AAAAAAAA+L8="},
                        {"none", Json::array()},
                        {"one", 3},
                        {"two", {0.5, "Infinity"}},
                        {"units", "m"}}));
  Array array = some_array();
  array.fill = variable.fill_value->values;
  const Attributes found = attributes_from(laid, &array);
  EXPECT_EQ(found.at("_FillValue"), *variable.fill_value);
  EXPECT_EQ(found.at("units"), text);
  EXPECT_EQ(found.at("one"), (attribute_of<std::int64_t>(ElementType::int64, {3})));
  EXPECT_EQ(found.at("two"), all.at("two"));
  EXPECT_EQ(found.at("none").count(), 0);
}

TEST(ZarrAttributes, AreReadAsTheyWereWritten) {
  using array::ElementType;
  const Attributes all{{"large", attribute_of<std::uint64_t>(ElementType::uint64, {UINT64_MAX, 1})},
                       {"not a number", attribute_of<double>(ElementType::float64, {NAN})},
                       {"numbers", attribute_of<double>(ElementType::float64, {NAN, INFINITY})},
                       {"text", contents::text_attribute("NaN")}};
  Json laid = Json::object();
  lay_over(laid, all, nullptr);
  EXPECT_EQ(attributes_from(Json::parse(laid.dump()), nullptr), all);
}

TEST(ZarrAttributes, OfOtherTypesAreLeftOut) {
  const auto all = Json::parse(R"({"map": {"a": 1}, "none": null, "rows": [[1, 2], [3, 4]],
                                   "pairs, complex or not": [[1.5, 2.5]]})");
  EXPECT_TRUE(attributes_from(all, nullptr).empty());
}

}  // namespace
}  // namespace iocomp::formats::zarr
