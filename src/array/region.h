// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "array/box.h"
#include "array/run_list.h"

namespace iocomp::array {

/// The elements of an array that a put covers: those of a box or, if there is a list, those of its
/// runs. Their "packed order" is the row-major order of the array.
struct Region {
  Region() = default;
  Region(const Box& all_of) : box{all_of} {}  // NOLINT(google-explicit-constructor): a box is one
  Region(std::shared_ptr<const RunList> list) : runs{std::move(list)} {}  // NOLINT

  Box box;
  std::shared_ptr<const RunList> runs;
};

[[nodiscard]] std::int64_t elements(const Region& region) noexcept;
/// The number of elements of the region with a row-major index in `shape` below `index`.
[[nodiscard]] std::int64_t elements_below(const Shape& shape, const Region& region,
                                          std::int64_t index) noexcept;
/// True if the elements follow one another in the row-major order of the shape.
[[nodiscard]] bool is_contiguous(const Shape& shape, const Region& region) noexcept;
/// @throws Error{invalid_argument} when an element lies outside the shape, or a box has other
/// dimensions.
void check_inside(const Shape& shape, const Region& region);
/// The box of all elements of an array.
[[nodiscard]] Box whole(const Shape& shape) noexcept;
/// Text for messages: a box, or "3 runs from element 4 to 70".
[[nodiscard]] std::string text(const Region& region);

}  // namespace iocomp::array
