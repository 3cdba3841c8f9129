// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/format.h"

namespace iocomp::formats::frames {

/// A part of a variable in the file: one frame of Zstandard, or raw elements.
struct Frame {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;  ///< in the file
  Selection what;
};

/// A variable in the file.
struct Stored {
  array::ElementType type = array::ElementType::float64;
  array::Shape shape;
  bool is_compressed = false;
  bool is_shuffled = false;  ///< the bytes of its elements
  std::vector<Frame> frames{};
};
using Index = std::map<std::string, Stored, std::less<>>;

/// The index is JSON at the end of the file, in a frame that decoders of Zstandard skip. So many
/// bytes at the very end tell how long it is.
inline constexpr std::size_t trailer_bytes = 24;
/// The length of the JSON, which lies before the trailer.
/// @throws Error{storage_failure} if it is no trailer.
[[nodiscard]] std::size_t index_bytes(std::span<const std::byte> trailer, const std::string& path);
/// @throws Error{storage_failure} for an index that is damaged, or tells of bytes that are none of
/// the file's; Error{unsupported} for one of a later release, or of another byte order.
[[nodiscard]] Index index_from(std::string_view json, std::span<const std::byte> trailer,
                               std::int64_t file_bytes, const std::string& path);

}  // namespace iocomp::formats::frames
