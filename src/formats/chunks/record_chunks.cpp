// SPDX-License-Identifier: BSD-3-Clause
#include "formats/chunks/record_chunks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

// HDF5 counts the bytes of a chunk in 32 bits.
constexpr std::int64_t longest_bytes = std::numeric_limits<std::uint32_t>::max();
// A chunk that is too large is better than chunks below this part of the allowed size.
constexpr std::int64_t smallest_part = 8;

// The length of a dimension of a chunk that has all of those inside it. Below the slowest one only
// equal parts will do: room at the end of each would tear records apart.
std::int64_t cut(std::int64_t extent, std::int64_t row_bytes, std::int64_t most_bytes,
                 bool is_slowest) {
  if (row_bytes >= most_bytes) {
    return 1;
  }
  const std::int64_t rows = std::min(most_bytes / row_bytes, extent);
  std::int64_t parts = (extent + rows - 1) / rows;
  if (is_slowest) {
    return (extent + parts - 1) / parts;  // of about the same length
  }
  while (extent % parts != 0) {
    ++parts;
  }
  const bool is_small = extent / parts * row_bytes < most_bytes / smallest_part;
  return is_small && extent * row_bytes <= longest_bytes ? extent : extent / parts;
}

}  // namespace

RecordChunks::RecordChunks(const Variable& variable, std::size_t dimensions,
                           std::int64_t most_bytes)
    : elements{array::elements(variable.shape)}, element_bytes{array::size_bytes(variable.type)} {
  std::int64_t bytes = variable.bytes();
  bool is_slowest = true;  // but for those of one row
  bool is_cut = false;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t extent = variable.shape.extent.at(d);
    std::int64_t length = extent;
    if (bytes > most_bytes && !is_cut) {
      length = cut(extent, bytes / extent, most_bytes, is_slowest);
      per_record *= (extent + length - 1) / length;
      elements = elements / extent * length;
      bytes = bytes / extent * length;
      is_cut = length > 1;
    }
    is_slowest = is_slowest && extent == 1;
    lengths.push_back(std::max<std::int64_t>(1, length));
  }
}

}  // namespace iocomp::formats
