// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/time_chunks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/format.h"
#include "formats/hdf5/texts.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {
namespace {

// HDF5 counts the bytes of a chunk in 32 bits.
constexpr std::int64_t hdf5_most_bytes = std::numeric_limits<std::uint32_t>::max();
// Rather a chunk that is too large than chunks smaller than this part of what they may have.
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
  return is_small && extent * row_bytes <= hdf5_most_bytes ? extent : extent / parts;
}

}  // namespace

TimeChunks::TimeChunks(const Variable& variable, const FormatOptions& options)
    : shape{1}, element_bytes{array::size_bytes(variable.type)}, stored_bytes{element_bytes} {
  const Storage storage = options.storage_of(variable.name);
  const auto& extents = variable.shape.extent;
  auto dimensions = static_cast<std::size_t>(variable.shape.dimensions);
  if (options.has_strings && holds_texts(variable)) {
    stored_bytes = static_cast<std::size_t>(extents.at(--dimensions));
  }
  std::int64_t bytes = variable.bytes();
  compression = storage.compression;
  steps = steps_in_chunk(bytes);
  shape[0] = steps;
  is_filtered = compression.is_on() && bytes > 0 && steps == 1;
  elements = array::elements(variable.shape);
  bool is_slowest = true;  // but for those of one row
  bool is_cut = false;
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t extent = extents.at(d);
    std::int64_t length = extent;
    if (bytes > storage.chunk_bytes && !is_cut) {
      length = cut(extent, bytes / extent, storage.chunk_bytes, is_slowest);
      per_record *= (extent + length - 1) / length;
      elements = elements / extent * length;
      bytes = bytes / extent * length;
      is_cut = length > 1;
    }
    is_slowest = is_slowest && extent == 1;
    shape.push_back(std::max<std::int64_t>(1, length));
  }
}

}  // namespace iocomp::formats::h5
