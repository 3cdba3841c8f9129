// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "contents/json_elements.h"
#include "formats/format.h"

namespace iocomp::formats::zarr {

using contents::Json;

/// The file that describes a group or an array.
inline constexpr const char* metadata_name = "zarr.json";

/// An array of Zarr 3, as its metadata tell it. Its files are shards on a regular grid, each with
/// chunks on a finer one; without sharding, a shard is one chunk.
struct Array {
  array::ElementType type = array::ElementType::float64;
  bool is_bool = false;               ///< its elements are truth values, read as int8
  std::vector<std::int64_t> shape{};  ///< slowest dimension first; the time is one of them
  std::vector<std::int64_t> shard{};
  std::vector<std::int64_t> chunk{};
  bool is_sharded = true;
  bool index_comes_first = false;             ///< in a shard; else last
  bool has_prefix = true;                     ///< its files are called "c.0.0"; else "0.0"
  char separator = '.';                       ///< or '/'
  Compression compression{.shuffle = false};  ///< deflate is gzip, zstd with sorted bytes blosc
  bool has_checksums = false;                 ///< of chunks
  std::vector<std::byte> fill{};              ///< one element: of chunks that are not there
  std::vector<std::string> dimensions{};      ///< their names; none, or as many as it has
  Json attributes = Json::object();

  /// True if its first dimension counts steps.
  [[nodiscard]] bool has_time() const;
  /// The file of a shard in its folder. @param place  in the grid of shards.
  [[nodiscard]] std::string file_of(const std::vector<std::int64_t>& place) const;
  [[nodiscard]] std::int64_t chunk_bytes() const;
  [[nodiscard]] std::int64_t chunks_in_shard() const;
};

[[nodiscard]] Json json(const Array& array);
/// @throws Error{storage_failure} if it is no array; Error{unsupported} for one that iocomp cannot
/// read.
[[nodiscard]] Array array_from(const Json& metadata);

}  // namespace iocomp::formats::zarr
