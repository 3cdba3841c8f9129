// SPDX-License-Identifier: BSD-3-Clause
#include "array/runs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"

namespace iocomp::array {

std::vector<Run> joined(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, &Run::index);
  std::size_t last = 0;
  for (const Run& run : runs) {
    Run& before = runs[last];
    const std::int64_t end = before.index + before.elements;
    if (run.index <= end) {
      before.elements = std::max(end, run.index + run.elements) - before.index;
    } else {
      runs[++last] = run;
    }
  }
  runs.resize(runs.empty() ? 0 : last + 1);
  return runs;
}

std::int64_t row_elements(const Shape& shape, const Box& box) noexcept {
  std::int64_t row = 1;
  bool is_whole = true;
  for (auto d = static_cast<std::size_t>(shape.dimensions); d > 0 && is_whole;) {
    --d;
    row *= box.count[d];
    is_whole = box.count[d] == shape.extent[d];
  }
  return row;
}

std::int64_t row_elements(const Shape& shape, const Region& region) noexcept {
  if (!region.runs) {
    return row_elements(shape, region.box);
  }
  const auto runs = static_cast<std::int64_t>(region.runs->size());
  return runs == 0 ? 0 : std::max<std::int64_t>(1, region.runs->elements() / runs);
}

RunCursor::RunCursor(const Shape& shape, const Box& box, std::int64_t first,
                     std::int64_t count) noexcept
    : left_{count} {
  if (count == 0) {
    return;
  }
  // Rows take in dimensions, from the innermost outwards, up to the first that the box does not
  // cover; a row of these can touch no other, so runs are as long as they can be.
  auto d = static_cast<std::size_t>(shape.dimensions);
  std::int64_t stride = 1;
  bool is_whole = true;
  while (d > 0 && is_whole) {
    --d;
    row_elements_ *= box.count[d];
    row_index_ += box.start[d] * stride;
    stride *= shape.extent[d];
    is_whole = box.count[d] == shape.extent[d];
  }
  outer_dimensions_ = static_cast<int>(d);

  in_row_ = first % row_elements_;
  std::int64_t row = first / row_elements_;
  while (d > 0) {
    --d;
    count_[d] = box.count[d];
    at_[d] = row % box.count[d];
    row /= box.count[d];
    stride_[d] = stride;
    row_index_ += (box.start[d] + at_[d]) * stride;
    stride *= shape.extent[d];
  }
}

RunCursor::RunCursor(const Shape& shape, const Region& region, std::int64_t first,
                     std::int64_t count) noexcept
    : RunCursor{shape, region.box, first, region.runs ? 0 : count} {
  if (region.runs && count > 0) {
    list_ = region.runs.get();
    left_ = count;
    number_ = list_->run_of(first);
    in_row_ = first - list_->packed_begin(number_);
  }
}

bool RunCursor::next(Run& run) noexcept {
  if (left_ == 0) {
    return false;
  }
  if (list_ != nullptr) {
    return next_of_list(run);
  }
  if (in_row_ == row_elements_) {
    enter_next_row();
  }
  run.index = row_index_ + in_row_;
  run.elements = std::min(left_, row_elements_ - in_row_);
  in_row_ += run.elements;
  left_ -= run.elements;
  return true;
}

bool RunCursor::next_of_list(Run& run) noexcept {
  run = list_->run(number_++);
  run.index += in_row_;
  run.elements = std::min(left_, run.elements - in_row_);
  in_row_ = 0;
  left_ -= run.elements;
  return true;
}

// Like an odometer: no division, and one step for nearly all rows.
void RunCursor::enter_next_row() noexcept {
  in_row_ = 0;
  for (auto d = static_cast<std::size_t>(outer_dimensions_); d-- > 0;) {
    row_index_ += stride_[d];
    if (++at_[d] < count_[d]) {
      return;
    }
    row_index_ -= count_[d] * stride_[d];
    at_[d] = 0;
  }
}

}  // namespace iocomp::array
