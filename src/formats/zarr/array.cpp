// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/array.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/our_words.h"
#include "contents/dimensions.h"
#include "contents/json_elements.h"
#include "formats/format.h"

namespace iocomp::formats::zarr {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr int most_of_blosc = 9;  // its highest level

[[noreturn]] void refuse(const std::string& why) { throw Error{ErrorCode::storage_failure, why}; }
[[noreturn]] void cannot(const std::string& what) {
  throw Error{ErrorCode::unsupported, "it has " + what + ", which iocomp cannot read"};
}

std::int64_t product(const Lengths& lengths, std::int64_t first) {
  std::int64_t all = first;
  for (const auto length : lengths) {
    if (length < 1 || all > std::numeric_limits<std::int64_t>::max() / length) {
      refuse("a chunk has an impossible length");
    }
    all *= length;
  }
  return all;
}

Json codec(const char* name, Json configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

Json of_bytes(array::ElementType type) {
  return array::size_bytes(type) == 1 ? Json{{"name", "bytes"}}
                                      : codec("bytes", {{"endian", "little"}});
}

Json codecs_of_chunks(const Array& array) {
  Json all = Json::array({of_bytes(array.type)});
  if (array.compression.method == Compression::Method::zstd && array.compression.shuffle) {
    all.push_back(codec("blosc", {{"cname", "zstd"},
                                  {"clevel", std::min(array.compression.level, most_of_blosc)},
                                  {"shuffle", "shuffle"},
                                  {"typesize", array::size_bytes(array.type)},
                                  {"blocksize", 0}}));
  } else if (array.compression.method == Compression::Method::zstd) {
    all.push_back(codec("zstd", {{"level", array.compression.level}, {"checksum", true}}));
  } else if (array.compression.is_on()) {
    all.push_back(codec("gzip", {{"level", array.compression.level}}));
  }
  if (array.has_checksums) {
    all.push_back({{"name", "crc32c"}});
  }
  return all;
}

Json codecs_of_index() {
  return Json::array({of_bytes(array::ElementType::uint64), {{"name", "crc32c"}}});
}

Lengths lengths_from(const Json& told, std::int64_t least) {
  if (!told.is_array()) {
    contents::refuse_json(told, "a list of lengths");
  }
  Lengths lengths;
  for (const auto& each : told) {
    lengths.push_back(contents::integer_from(each));
    if (lengths.back() < least) {
      contents::refuse_json(told, "a list of lengths");
    }
  }
  return lengths;
}

// The name of a codec or another named object; the name may stand alone.
std::string name_of(const Json& told) {
  return told.is_string() ? told.get<std::string>() : told.at("name").get<std::string>();
}

using Names = std::initializer_list<std::string_view>;

// A member with another name may be damaged, and to leave it out may change every value.
void refuse_others(const Json& told, const Names& names, const std::string& where) {
  for (const auto& [name, value] : told.items()) {
    const bool may_be_ignored = value.is_object() && value.value("must_understand", true) == false;
    if (std::ranges::find(names, name) == names.end() && !may_be_ignored) {
      cannot("the member " + name + " of " + where);
    }
  }
}

// The configuration of a named object, with members of these names.
Json configuration_of(const Json& told, const Names& names) {
  if (!told.is_object()) {
    return Json::object();
  }
  refuse_others(told, {"name", "configuration"}, name_of(told));
  const Json found = told.value("configuration", Json::object());
  refuse_others(found, names, name_of(told));
  return found;
}

void take_bytes(const Json& codec, array::ElementType type) {
  if (name_of(codec) != "bytes") {
    cannot("the codec " + name_of(codec));
  }
  if (array::size_bytes(type) > 1 &&
      configuration_of(codec, {"endian"}).value("endian", "") != "little") {
    cannot("elements in another byte order");
  }
}

void take_codecs_of_chunks(const Json& codecs, Array& array) {
  if (!codecs.is_array() || codecs.empty()) {
    contents::refuse_json(codecs, "a list of codecs");
  }
  take_bytes(codecs.front(), array.type);
  for (std::size_t i = 1; i < codecs.size(); ++i) {
    const std::string name = name_of(codecs[i]);
    const bool is_blosc = name == "blosc";
    const Json configuration =
        is_blosc
            ? configuration_of(codecs[i], {"cname", "clevel", "shuffle", "typesize", "blocksize"})
        : name == "zstd" ? configuration_of(codecs[i], {"level", "checksum"})
        : name == "gzip" ? configuration_of(codecs[i], {"level"})
                         : configuration_of(codecs[i], {});
    const bool compresses = name == "zstd" || name == "gzip" || is_blosc;
    if (array.has_checksums || (name != "crc32c" && (!compresses || array.compression.is_on()))) {
      cannot("the codec " + name + " there");
    }
    if (compresses) {
      if (is_blosc && configuration.value("cname", "") != "zstd") {
        cannot("the codec blosc with " + configuration.value("cname", ""));
      }
      if (is_blosc && configuration.value("shuffle", "") == "bitshuffle") {
        cannot("the codec blosc with bitshuffle");
      }
      array.compression.method =
          name == "gzip" ? Compression::Method::deflate : Compression::Method::zstd;
      array.compression.shuffle = is_blosc;
      array.compression.level = static_cast<int>(
          contents::integer_from(configuration.value(is_blosc ? "clevel" : "level", Json(0))));
    }
    array.has_checksums = name == "crc32c";
  }
}

void take_sharding(const Json& told, Array& array) {
  array.chunk = lengths_from(told.at("chunk_shape"), 1);
  take_codecs_of_chunks(told.at("codecs"), array);
  const Json& index = told.at("index_codecs");
  take_bytes(index.at(0), array::ElementType::uint64);
  if (index.size() != 2 || name_of(index.at(1)) != "crc32c") {
    cannot("an index of shards with other codecs than bytes and crc32c");
  }
  const auto place = told.value("index_location", "end");
  if (place != "start" && place != "end") {
    refuse("its index lies at an unknown place");
  }
  array.index_comes_first = place == "start";
  bool divides = array.chunk.size() == array.shard.size();
  for (std::size_t d = 0; divides && d < array.chunk.size(); ++d) {
    divides = array.shard[d] % array.chunk[d] == 0;
  }
  if (!divides) {
    refuse("its chunks do not divide its shards");
  }
}

void take_names_of_files(const Json& encoding, Array& array) {
  const std::string name = name_of(encoding);
  if (name != "default" && name != "v2") {
    cannot("the key encoding " + name);
  }
  array.has_prefix = name == "default";
  const auto separator =
      configuration_of(encoding, {"separator"}).value("separator", array.has_prefix ? "/" : ".");
  if (separator != "/" && separator != ".") {
    refuse("an unknown separator");
  }
  array.separator = separator.front();
}

Array taken_from(const Json& metadata) {
  if (metadata.at("node_type") == "group") {
    throw Error{ErrorCode::unsupported, "a group: arrays of the root alone are read"};
  }
  if (metadata.at("zarr_format") != 3 || metadata.at("node_type") != "array") {
    refuse("it is no array of Zarr 3");
  }
  refuse_others(
      metadata,
      {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
       "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers"},
      "its metadata");
  if (!metadata.value("storage_transformers", Json::array()).empty()) {
    cannot("transformers of storage");
  }
  Array array;
  const auto& type = metadata.at("data_type");
  array.is_bool = type == "bool";
  const auto known = array.is_bool      ? array::ElementType::int8
                     : type.is_string() ? array::element_type(type.get<std::string>())
                                        : std::nullopt;
  if (!known || *known == array::ElementType::character) {
    cannot("elements of the type " + type.dump());
  }
  array.type = *known;
  array.shape = lengths_from(metadata.at("shape"), 0);
  if (name_of(metadata.at("chunk_grid")) != "regular") {
    cannot("the chunk grid " + name_of(metadata.at("chunk_grid")));
  }
  array.shard = lengths_from(
      configuration_of(metadata.at("chunk_grid"), {"chunk_shape"}).at("chunk_shape"), 1);
  if (array.shard.size() != array.shape.size()) {
    refuse("its chunks have other dimensions than it has");
  }
  take_names_of_files(metadata.at("chunk_key_encoding"), array);
  const Json& codecs = metadata.at("codecs");
  array.is_sharded = codecs.size() == 1 && name_of(codecs.at(0)) == "sharding_indexed";
  if (array.is_sharded) {
    take_sharding(
        configuration_of(codecs.at(0), {"chunk_shape", "codecs", "index_codecs", "index_location"}),
        array);
  } else {
    array.chunk = array.shard;
    take_codecs_of_chunks(codecs, array);
  }
  (void)array.chunk_bytes();
  const Json& fill = metadata.at("fill_value");
  contents::append_element(array.type, array.is_bool ? Json(fill.get<bool>() ? 1 : 0) : fill,
                           array.fill);
  if (metadata.contains("dimension_names") && metadata.at("dimension_names").is_array()) {
    for (const auto& name : metadata.at("dimension_names")) {
      array.dimensions.push_back(name.is_string() ? name.get<std::string>() : "");
    }
  }
  if (!array.dimensions.empty() && array.dimensions.size() != array.shape.size()) {
    refuse("it has other names of dimensions than dimensions");
  }
  array.attributes = metadata.value("attributes", Json::object());
  return array;
}

}  // namespace

bool Array::has_time() const {
  return !dimensions.empty() && dimensions.front() == contents::time_dimension;
}

std::string Array::file_of(const std::vector<std::int64_t>& place) const {
  std::string name = has_prefix ? "c" : "";
  for (const auto number : place) {
    name += (name.empty() ? "" : std::string{separator}) + std::to_string(number);
  }
  return name.empty() ? "0" : name;
}

std::int64_t Array::chunk_bytes() const {
  return product(chunk, static_cast<std::int64_t>(array::size_bytes(type)));
}

std::int64_t Array::chunks_in_shard() const {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < shard.size(); ++d) {
    all = product({shard[d] / chunk[d]}, all);
  }
  return all;
}

Json json(const Array& array) {
  const Json codecs = codecs_of_chunks(array);
  return {
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", array.shape},
      {"data_type", std::string{array::name(array.type)}},
      {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", array.shard}}}}},
      {"chunk_key_encoding",
       {{"name", array.has_prefix ? "default" : "v2"},
        {"configuration", {{"separator", std::string{array.separator}}}}}},
      {"fill_value", contents::json_element(array.type, array.fill.data())},
      {"codecs",
       !array.is_sharded
           ? codecs
           : Json::array({codec("sharding_indexed",
                                {{"chunk_shape", array.chunk},
                                 {"codecs", codecs},
                                 {"index_codecs", codecs_of_index()},
                                 {"index_location", array.index_comes_first ? "start" : "end"}})})},
      {"attributes", array.attributes},
      {"dimension_names", array.dimensions.empty() ? Json(nullptr) : Json(array.dimensions)},
      {"storage_transformers", Json::array()}};
}

Array array_from(const Json& metadata) {
  try {
    return taken_from(metadata);
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure, in_our_words(error)};
  }
}

}  // namespace iocomp::formats::zarr
