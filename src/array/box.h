// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace iocomp::array {

inline constexpr int max_dimensions = 8;
using Extents = std::array<std::int64_t, max_dimensions>;

/// The global extents of a variable, row-major; `dimensions` 0 is a scalar (one element).
struct Shape {
  int dimensions = 0;
  Extents extent{};  // unused entries are 0

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// A block of a global array: `start[d] <= index[d] < start[d] + count[d]`, in elements.
struct Box {
  int dimensions = 0;
  Extents start{};
  Extents count{};

  friend bool operator==(const Box&, const Box&) = default;
};

/// @throws Error{invalid_argument} for a bad number of dimensions, a null pointer, a negative
/// extent, or more elements than 63 bits count.
[[nodiscard]] Shape make_shape(int dimensions, const std::int64_t* extent);
/// A block inside `shape`; pointers may be null when the shape is a scalar.
/// @throws Error{invalid_argument} naming the dimension when the box leaves the shape or is
/// negative.
[[nodiscard]] Box make_box(const Shape& shape, const std::int64_t* start,
                           const std::int64_t* count);

/// Checks a box that came from elsewhere.
/// @throws Error{invalid_argument} for one that lies in no array.
void check(const Box& box);

/// Product of the extents; 1 for a scalar.
[[nodiscard]] std::int64_t elements(const Shape& shape) noexcept;
[[nodiscard]] std::int64_t elements(const Box& box) noexcept;

/// The number of elements of `box` with a row-major index in `shape` below `index`. O(dimensions).
[[nodiscard]] std::int64_t elements_below(const Shape& shape, const Box& box,
                                          std::int64_t index) noexcept;

/// True if all of `inner` lies in `outer`. @pre they have as many dimensions.
[[nodiscard]] bool contains(const Box& outer, const Box& inner) noexcept;

/// True if the elements of the box follow one another in the row-major order of the shape (an empty
/// box does).
[[nodiscard]] bool is_contiguous(const Shape& shape, const Box& box) noexcept;

/// The most elements, up to `at_most`, that are a box from wherever a row of some dimension begins;
/// `at_most` where not even the innermost row fits.
[[nodiscard]] std::int64_t whole_rows(const Box& box, std::int64_t at_most) noexcept;

/// Text for messages: "[0:4, 8:16]" (start:end per dimension), "[]" for a scalar; a shape as "4 x
/// 16", "scalar".
[[nodiscard]] std::string text(const Box& box);
[[nodiscard]] std::string text(const Shape& shape);
/// The indices of an element, by its row-major index: "[3, 4]".
[[nodiscard]] std::string index_text(const Shape& shape, std::int64_t index);

}  // namespace iocomp::array
