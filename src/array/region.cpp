// SPDX-License-Identifier: BSD-3-Clause
#include "array/region.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "array/box.h"
#include "array/run_list.h"
#include "base/error.h"

namespace iocomp::array {

std::int64_t elements(const Region& region) noexcept {
  return region.runs ? region.runs->elements() : elements(region.box);
}

std::int64_t elements_below(const Shape& shape, const Region& region, std::int64_t index) noexcept {
  return region.runs ? region.runs->elements_below(index)
                     : elements_below(shape, region.box, index);
}

bool is_contiguous(const Shape& shape, const Region& region) noexcept {
  return region.runs ? region.runs->size() <= 1 : is_contiguous(shape, region.box);
}

void check_inside(const Shape& shape, const Region& region) {
  if (region.runs) {
    if (region.runs->end() > elements(shape)) {
      throw Error{ErrorCode::invalid_argument, text(region) + " are not all inside " + text(shape)};
    }
  } else if (region.box.dimensions != shape.dimensions) {
    throw Error{ErrorCode::invalid_argument, "a block of other dimensions than " + text(shape)};
  } else {
    (void)make_box(shape, region.box.start.data(), region.box.count.data());
  }
}

Box whole(const Shape& shape) noexcept {
  return {.dimensions = shape.dimensions, .start = {}, .count = shape.extent};
}

std::string text(const Region& region) {
  if (!region.runs) {
    return text(region.box);
  }
  if (region.runs->size() == 0) {
    return "no runs";
  }
  const std::size_t runs = region.runs->size();
  return std::to_string(runs) + (runs == 1 ? " run" : " runs") + " from element " +
         std::to_string(region.runs->run(0).index) + " to " +
         std::to_string(region.runs->end() - 1);
}

}  // namespace iocomp::array
