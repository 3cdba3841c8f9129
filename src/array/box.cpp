// SPDX-License-Identifier: BSD-3-Clause
#include "array/box.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "base/error.h"

namespace iocomp::array {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error{ErrorCode::invalid_argument, text};
}

std::span<const std::int64_t> used(const Extents& extents, int dimensions) noexcept {
  return std::span{extents}.first(static_cast<std::size_t>(dimensions));
}

// A zero is looked for first: the extents beside it may have a product that 63 bits do not hold.
std::int64_t product(std::span<const std::int64_t> extents) noexcept {
  if (std::ranges::find(extents, 0) != extents.end()) {
    return 0;
  }
  std::int64_t result = 1;
  for (const std::int64_t extent : extents) {
    result *= extent;
  }
  return result;
}

bool is_countable(std::span<const std::int64_t> extents) noexcept {
  if (std::ranges::find(extents, 0) != extents.end()) {
    return true;
  }
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t extent : extents) {
    left /= extent;
  }
  return left > 0;
}

void check_inside(const Shape& shape, const Box& box, std::size_t d) {
  if (box.start[d] < 0 || box.count[d] < 0 || box.count[d] > shape.extent[d] ||
      box.start[d] > shape.extent[d] - box.count[d]) {
    refuse("the block does not lie in the array: in dimension " + std::to_string(d) +
           " it starts at " + std::to_string(box.start[d]) + " and has " +
           std::to_string(box.count[d]) + " elements, the array has " +
           std::to_string(shape.extent[d]));
  }
}

}  // namespace

Shape make_shape(int dimensions, const std::int64_t* extent) {
  if (dimensions < 0 || dimensions > max_dimensions) {
    refuse("an array of " + std::to_string(dimensions) + " dimensions was asked for, 0 to " +
           std::to_string(max_dimensions) + " are possible");
  }
  if (dimensions > 0 && extent == nullptr) {
    refuse("the extents of an array of " + std::to_string(dimensions) +
           " dimensions are a null pointer");
  }
  Shape shape{.dimensions = dimensions, .extent = {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    shape.extent[d] = extent[d];
    if (extent[d] < 0) {
      refuse("the extent " + std::to_string(extent[d]) + " of dimension " + std::to_string(d) +
             " is negative");
    }
  }
  if (!is_countable(used(shape.extent, dimensions))) {
    refuse("an array of " + text(shape) + " has more elements than 63 bits count");
  }
  return shape;
}

Box make_box(const Shape& shape, const std::int64_t* start, const std::int64_t* count) {
  Box box{.dimensions = shape.dimensions, .start = {}, .count = {}};
  if (shape.dimensions > 0 && (start == nullptr || count == nullptr)) {
    refuse("start or count of a block of " + std::to_string(shape.dimensions) +
           " dimensions is a null pointer");
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    box.start[d] = start[d];
    box.count[d] = count[d];
    check_inside(shape, box, d);
  }
  return box;
}

void check(const Box& box) {
  Shape least{.dimensions = box.dimensions, .extent = {}};
  if (box.dimensions < 0 || box.dimensions > max_dimensions) {
    refuse("a block of " + std::to_string(box.dimensions) + " dimensions, 0 to " +
           std::to_string(max_dimensions) + " are possible");
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    if (__builtin_add_overflow(box.start[d], box.count[d], &least.extent[d])) {
      refuse("a block ends behind all that 63 bits count in dimension " + std::to_string(d));
    }
    check_inside(least, box, d);
  }
  if (!is_countable(used(box.count, box.dimensions))) {
    refuse("a block has more elements than 63 bits count");
  }
}

bool contains(const Box& outer, const Box& inner) noexcept {
  for (std::size_t d = 0; d < static_cast<std::size_t>(inner.dimensions); ++d) {
    if (inner.start[d] < outer.start[d] ||
        inner.start[d] + inner.count[d] > outer.start[d] + outer.count[d]) {
      return false;
    }
  }
  return true;
}

std::int64_t elements(const Shape& shape) noexcept {
  return product(used(shape.extent, shape.dimensions));
}

std::int64_t elements(const Box& box) noexcept { return product(used(box.count, box.dimensions)); }

std::int64_t elements_below(const Shape& shape, const Box& box, std::int64_t index) noexcept {
  const std::int64_t all = elements(box);
  if (index <= 0 || all == 0) {
    return 0;
  }
  if (index >= elements(shape)) {
    return all;
  }
  // Goes from the innermost dimension outwards. `below` counts the elements of the part of the box
  // in these dimensions that lie below the part of the index in them.
  std::int64_t below = 0;
  std::int64_t inner_elements = 1;
  for (auto d = static_cast<std::size_t>(shape.dimensions); d-- > 0;) {
    const std::int64_t at = index % shape.extent[d] - box.start[d];
    index /= shape.extent[d];
    if (at < 0) {
      below = 0;
    } else if (at >= box.count[d]) {
      below = box.count[d] * inner_elements;
    } else {
      below += at * inner_elements;
    }
    inner_elements *= box.count[d];
  }
  return below;
}

bool is_contiguous(const Shape& shape, const Box& box) noexcept {
  if (elements(box) == 0) {
    return true;
  }
  auto d = static_cast<std::size_t>(shape.dimensions);
  while (d > 0 && box.count[d - 1] == shape.extent[d - 1]) {
    --d;
  }
  // The first dimension that is not whole may have any count; those outside it must not repeat.
  for (std::size_t outer = 0; outer + 1 < d; ++outer) {
    if (box.count[outer] != 1) {
      return false;
    }
  }
  return true;
}

std::int64_t whole_rows(const Box& box, std::int64_t at_most) noexcept {
  std::int64_t row = elements(box);
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions) && row > 0; ++d) {
    row /= box.count[d];
    if (row > 0 && row <= at_most) {
      return at_most / row * row;
    }
  }
  return at_most;
}

std::string text(const Box& box) {
  std::string result = "[";
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    result += (d == 0 ? "" : ", ") + std::to_string(box.start[d]) + ":" +
              std::to_string(box.start[d] + box.count[d]);
  }
  return result + "]";
}

std::string text(const Shape& shape) {
  if (shape.dimensions == 0) {
    return "scalar";
  }
  std::string result;
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    result += (d == 0 ? "" : " x ") + std::to_string(shape.extent[d]);
  }
  return result;
}

std::string index_text(const Shape& shape, std::int64_t index) {
  std::string indices;
  for (int d = shape.dimensions - 1; d >= 0; --d) {
    const std::int64_t extent = shape.extent[static_cast<std::size_t>(d)];
    indices = std::to_string(index % extent) + (indices.empty() ? "" : ", ") + indices;
    index /= extent;
  }
  return '[' + indices + ']';
}

}  // namespace iocomp::array
