// SPDX-License-Identifier: BSD-3-Clause
#include "formats/frames/index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/checksum.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/little_endian.h"
#include "base/our_words.h"
#include "contents/json_elements.h"
#include "formats/format.h"

namespace iocomp::formats::frames {
namespace {

using contents::Json;

constexpr int version = 1;
constexpr std::string_view mark = "iocompF1";
constexpr const char* own_order = std::endian::native == std::endian::little ? "little" : "big";

// Offset, bytes, first and count, then start and count in each dimension.
constexpr std::size_t numbers_before_box = 4;

[[noreturn]] void refuse(const std::string& why) { throw Error{ErrorCode::storage_failure, why}; }

Frame frame_from(const Json& told, const array::Shape& shape) {
  const auto numbers = told.get<std::vector<std::int64_t>>();
  const auto dimensions = static_cast<std::size_t>(shape.dimensions);
  if (numbers.size() != numbers_before_box + 2 * dimensions) {
    refuse("a frame with " + std::to_string(numbers.size()) + " numbers");
  }
  const auto* const start = numbers.data() + numbers_before_box;
  Frame frame{numbers[0],
              numbers[1],
              {array::make_box(shape, start, start + dimensions), numbers[2], numbers[3]}};
  const auto& what = frame.what;
  const std::int64_t all = array::elements(what.box);
  if (frame.offset < 0 || frame.bytes < 0 || what.first < 0 || what.count < 0 || what.first > all ||
      what.count > all - what.first) {
    refuse("a frame of elements that its box does not have");
  }
  return frame;
}

Stored stored_from(const Json& told) {
  Stored stored;
  const auto type = array::element_type(told.at("type").get<std::string>());
  const auto extent = told.at("shape").get<std::vector<std::int64_t>>();
  if (!type || extent.size() > static_cast<std::size_t>(array::max_dimensions)) {
    refuse("a variable of an unknown type or an impossible shape");
  }
  stored.type = *type;
  stored.shape = array::make_shape(static_cast<int>(extent.size()), extent.data());
  stored.is_compressed = told.at("compression").get<std::string>() == "zstd";
  stored.is_shuffled = told.at("shuffle").get<bool>();
  for (const auto& frame : told.at("frames")) {
    stored.frames.push_back(frame_from(frame, stored.shape));
  }
  return stored;
}

Index parsed(std::string_view json) {
  const Json all = contents::parse_json(json);
  if (all.at("iocomp_frames").get<int>() > version || all.at("byte_order") != own_order) {
    throw Error{ErrorCode::unsupported,
                "its frames are of a later release of iocomp, or of a "
                "machine with the other byte order"};
  }
  Index index;
  for (const auto& told : all.at("variables")) {
    index.insert_or_assign(told.at("name").get<std::string>(), stored_from(told));
  }
  return index;
}

std::uint64_t checksum_of(std::string_view text) {
  array::Checksum sum{array::ElementType::uint8};
  sum.add(std::as_bytes(std::span{text}));
  return sum.value();
}

}  // namespace

std::size_t index_bytes(std::span<const std::byte> trailer, const std::string& path) {
  const auto end = trailer.last(mark.size());
  if (!std::ranges::equal(end, std::as_bytes(std::span{mark}))) {
    refuse("cannot read " + path + ": it does not end as a file in frames does");
  }
  return static_cast<std::size_t>(number_at(trailer, 0));
}

Index index_from(std::string_view json, std::span<const std::byte> trailer, std::int64_t file_bytes,
                 const std::string& path) {
  try {
    if (checksum_of(json) != number_at(trailer, sizeof(std::uint64_t))) {
      refuse("the index of its frames is damaged");
    }
    auto index = parsed(json);
    for (const auto& [name, stored] : index) {
      for (const Frame& frame : stored.frames) {
        if (frame.offset > file_bytes || frame.bytes > file_bytes - frame.offset) {
          refuse("a frame of \"" + name + "\" lies behind its end");
        }
      }
    }
    return index;
  } catch (const Error& error) {
    throw Error{error.code(), "cannot read " + path + ": " + error.what()};
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path + ": the index of its frames: " + in_our_words(error)};
  }
}

}  // namespace iocomp::formats::frames
