// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"

namespace iocomp::array {

class RunList;
struct Region;

/// Elements that follow one another in the global array.
struct Run {
  std::int64_t index = 0;     ///< row-major index in the shape of the first element
  std::int64_t elements = 0;  ///< how many
};

/// Runs in any order, ascending and as long as can be.
[[nodiscard]] std::vector<Run> joined(std::vector<Run> runs);

/// The number of elements of a box that follow one another in the global array whatever the outer
/// index: the length of all its runs; the whole box if it is contiguous.
[[nodiscard]] std::int64_t row_elements(const Shape& shape, const Box& box) noexcept;
/// The same of a region; the mean length of its runs where it is a list.
[[nodiscard]] std::int64_t row_elements(const Shape& shape, const Region& region) noexcept;

/// Walks over a part of a box in the row-major order of the box (its "packed order") and yields the
/// longest runs that are contiguous in the global array. Runs that touch across rows are joined.
/// O(dimensions) memory.
class RunCursor {
 public:
  /// Visit elements `first` to `first + count` (excluded) of the packed order of `box`.
  /// @pre 0 <= first, first + count <= elements(box).
  RunCursor(const Shape& shape, const Box& box, std::int64_t first, std::int64_t count) noexcept;

  /// The same of a region. @pre the region outlives the cursor.
  RunCursor(const Shape& shape, const Region& region, std::int64_t first,
            std::int64_t count) noexcept;

  /// The next run; false when there is none left.
  [[nodiscard]] bool next(Run& run) noexcept;

 private:
  void enter_next_row() noexcept;
  [[nodiscard]] bool next_of_list(Run& run) noexcept;

  const RunList* list_ = nullptr;  // instead of rows
  std::size_t number_ = 0;         // of the next run of the list
  std::int64_t left_ = 0;          // elements still to visit
  std::int64_t row_elements_ =
      1;                        // elements of the box that are contiguous whatever the outer index
  std::int64_t row_index_ = 0;  // in the shape, of the first element of the current row
  std::int64_t in_row_ = 0;     // elements of the current row that were visited or left out
  int outer_dimensions_ = 0;    // dimensions that are walked one by one
  Extents count_{};             // of the box in each outer dimension
  Extents at_{};      // the current row, in each outer dimension, counted from the start of the box
  Extents stride_{};  // of each outer dimension in the shape
};

}  // namespace iocomp::array
