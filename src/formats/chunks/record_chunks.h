// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/words.h"

namespace iocomp::formats {

/// The chunks of a variable in a step. It is cut along its slowest dimensions, so that the elements
/// of each chunk follow one another, and so do the chunks. Only the last one may be less than full;
/// in the file it has as much room as the others.
struct RecordChunks {
  /// @param dimensions  of the variable that are cut, from the slowest on; the others stay whole.
  /// @param most_bytes  of a chunk, but where a single row, or equal parts, are longer.
  RecordChunks(const Variable& variable, std::size_t dimensions, std::int64_t most_bytes);

  std::vector<std::int64_t> lengths{};  ///< of a chunk, in these dimensions; at least 1
  std::int64_t elements = 1;            ///< in a chunk
  std::int64_t per_record = 1;          ///< chunks
  std::size_t element_bytes = 1;

  [[nodiscard]] std::int64_t bytes() const noexcept {
    return elements * static_cast<std::int64_t>(element_bytes);
  }
  /// The bytes of all chunks.
  [[nodiscard]] std::int64_t all_bytes() const noexcept { return per_record * bytes(); }
};

}  // namespace iocomp::formats
