// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"

namespace iocomp::formats::bp {
namespace {

constexpr std::size_t head_bytes = 64;
constexpr std::size_t order_at = 36;  // 0: little-endian
constexpr std::size_t version_at = 37;
constexpr std::size_t record_bytes = 64;
constexpr std::size_t end_at = 40;  // of the metadata of the step, in its record

}  // namespace

Index look_at_index(std::span<const std::byte> bytes, std::int64_t most_steps) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  if (bytes.size() < head_bytes) {
    return {};
  }
  if (std::to_integer<int>(bytes[version_at]) != 4 ||
      (std::to_integer<int>(bytes[order_at]) == 0) != is_little) {
    throw Error{ErrorCode::unsupported,
                "it is no dataset of BP4 in the byte order of this machine"};
  }
  Index index;
  const auto whole = static_cast<std::int64_t>((bytes.size() - head_bytes) / record_bytes);
  index.steps = std::min(whole, most_steps);
  const std::size_t end = head_bytes + record_bytes * static_cast<std::size_t>(index.steps);
  index.bytes = static_cast<std::int64_t>(end);
  if (index.steps > 0) {
    std::memcpy(&index.metadata_bytes, bytes.data() + end - record_bytes + end_at,
                sizeof index.metadata_bytes);
  }
  return index;
}

}  // namespace iocomp::formats::bp
