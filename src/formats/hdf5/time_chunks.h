// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "formats/chunks/record_chunks.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// True if a variable is stored as strings: its characters along the last dimension.
[[nodiscard]] inline bool holds_texts(const Variable& variable) noexcept {
  return variable.type == array::ElementType::character && variable.shape.dimensions > 0 &&
         array::elements(variable.shape) > 0;
}

/// The steps in a chunk of a dataset with `layout = "time"`: many, where a record has less than a
/// page.
[[nodiscard]] constexpr std::int64_t steps_in_chunk(std::int64_t record_bytes) {
  constexpr std::int64_t page_bytes = 4096;
  constexpr std::int64_t most_steps = 1024;
  return record_bytes > 0 && record_bytes < page_bytes
             ? std::min(page_bytes / record_bytes, most_steps)
             : 1;
}

/// The chunks of a dataset with `layout = "time"`: a part of a record each, or many records
/// together. Texts that are strings stay whole.
struct TimeChunks : RecordChunks {
  TimeChunks(const Variable& variable, const FormatOptions& options);

  std::vector<std::int64_t> shape;  ///< of a chunk, time first; what HDF5 sees of it
  std::int64_t steps = 1;           ///< in a chunk
  std::size_t stored_bytes = 1;     ///< of what HDF5 takes for an element: a string, an
                                    ///< element, or a part of a complex one
  /// True if chunks go through filters. Such a chunk holds a whole step.
  bool is_filtered = false;
  Compression compression;  ///< then

  /// The bytes of a chunk without filters.
  [[nodiscard]] std::int64_t bytes() const noexcept { return steps * RecordChunks::bytes(); }
  /// The bytes of all chunks of a record, or of the one chunk of `steps` records.
  [[nodiscard]] std::int64_t all_bytes() const noexcept { return per_record * bytes(); }
};

}  // namespace iocomp::formats::h5
