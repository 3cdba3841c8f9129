// SPDX-License-Identifier: BSD-3-Clause
#include "formats/sub_boxes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"

namespace iocomp::formats {
namespace {

// Packed range [first, end) of `box` below dimension `d`, whose outer dimensions have extent 1.
void split(const array::Box& box, int d, std::int64_t first, std::int64_t end,
           std::vector<array::Box>& found) {
  if (first >= end) {
    return;
  }
  if (d == box.dimensions || (first == 0 && end == elements(box))) {
    found.push_back(box);
    return;
  }
  const auto dimension = static_cast<std::size_t>(d);
  const std::int64_t row =
      elements(box) / box.count[dimension];  // elements with one index in dimension d
  const auto rows = [&box, dimension](std::int64_t from, std::int64_t count) {
    array::Box part = box;
    part.start[dimension] += from;
    part.count[dimension] = count;
    return part;
  };
  const std::int64_t first_row = first / row;
  const std::int64_t last_row = (end - 1) / row;
  if (first_row == last_row) {
    split(rows(first_row, 1), d + 1, first - first_row * row, end - first_row * row, found);
    return;
  }
  const std::int64_t body_begin = (first + row - 1) / row;
  const std::int64_t body_end = end / row;
  if (body_begin > first_row) {
    split(rows(first_row, 1), d + 1, first - first_row * row, row, found);
  }
  if (body_end > body_begin) {
    found.push_back(rows(body_begin, body_end - body_begin));
  }
  if (body_end <= last_row) {
    split(rows(last_row, 1), d + 1, 0, end - last_row * row, found);
  }
}

}  // namespace

std::vector<array::Box> sub_boxes(const array::Box& box, std::int64_t first, std::int64_t count) {
  std::vector<array::Box> found;
  split(box, 0, first, first + count, found);
  return found;
}

}  // namespace iocomp::formats
