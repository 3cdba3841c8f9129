#include "formats/adios2/index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/error.h"

namespace iocomp::formats::bp {
namespace {

constexpr std::size_t head_bytes = 64;
constexpr std::size_t order_at = 36;  // 0: little-endian
constexpr std::size_t version_at = 37;

// Of BP4:
constexpr std::size_t record_bytes = 64;
constexpr std::size_t end_at = 40;  // of the metadata of the step
// Of BP5, after a letter and the length of the rest:
constexpr std::size_t before_record = 9;
constexpr std::size_t most_files_at = 16;

// @pre they are there
std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Index look_at_bp4(std::span<const std::byte> bytes, std::int64_t most_steps) {
  Index index;
  const auto whole = static_cast<std::int64_t>((bytes.size() - head_bytes) / record_bytes);
  index.steps = std::min(whole, most_steps);
  index.bytes =
      static_cast<std::int64_t>(head_bytes + record_bytes * static_cast<std::size_t>(index.steps));
  if (index.steps > 0) {
    const auto last = static_cast<std::size_t>(index.bytes) - record_bytes;
    index.metadata_bytes = static_cast<std::int64_t>(number_at(bytes, last + end_at));
  }
  return index;
}

Index look_at_bp5(std::span<const std::byte> bytes, std::int64_t most_steps) {
  Index index;
  index.bytes = head_bytes;
  std::int64_t files = 0;
  for (std::size_t at = head_bytes;
       index.steps < most_steps && bytes.size() - at >= before_record;) {
    const auto letter = std::to_integer<char>(bytes[at]);
    const std::uint64_t length = number_at(bytes, at + 1);
    at += before_record;
    const bool is_known = (letter == 's' || letter == 'w') && length >= 3 * sizeof(std::uint64_t);
    if (!is_known || length > bytes.size() - at) {
      break;
    }
    if (letter == 'w') {
      files = std::max(files, static_cast<std::int64_t>(number_at(bytes, at + most_files_at)));
    }
    if (letter == 's') {
      ++index.steps;
      index.bytes = static_cast<std::int64_t>(at + length);
      index.metadata_bytes =
          static_cast<std::int64_t>(number_at(bytes, at) + number_at(bytes, at + 8));
      index.subfiles = files;
    }
    at += length;
  }
  return index;
}

}  // namespace

Index look_at_index(std::span<const std::byte> bytes, int version, std::int64_t most_steps) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  const bool is_whole = bytes.size() >= head_bytes;
  if (is_whole && (std::to_integer<int>(bytes[version_at]) != version ||
                   (std::to_integer<int>(bytes[order_at]) == 0) != is_little)) {
    throw Error{ErrorCode::unsupported, "it is no dataset of BP" + std::to_string(version) +
                                            " in the byte order of this machine"};
  }
  if (!is_whole) {
    return {};
  }
  return version == 4 ? look_at_bp4(bytes, most_steps) : look_at_bp5(bytes, most_steps);
}

std::int64_t whole_blocks(std::span<const std::byte> bytes) {
  constexpr std::size_t lengths = 2 * sizeof(std::uint64_t);
  std::size_t at = 0;
  while (bytes.size() - at >= lengths) {
    const std::uint64_t left = bytes.size() - at - lengths;
    const std::uint64_t id = number_at(bytes, at);
    const std::uint64_t text = number_at(bytes, at + 8);
    if (id > left || text > left - id) {
      break;
    }
    at += lengths + id + text;
  }
  return static_cast<std::int64_t>(at);
}

}  // namespace iocomp::formats::bp
