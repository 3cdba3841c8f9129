// SPDX-License-Identifier: BSD-3-Clause
#include "contents/overlap.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "array/region.h"
#include "base/error.h"
#include "contents/variable.h"

namespace iocomp::contents {
namespace {

std::string position(const array::Shape& shape, std::int64_t index) {
  std::string text = "]";
  for (auto d = static_cast<std::size_t>(shape.dimensions); d-- > 0;) {
    text.insert(0, (d > 0 ? ", " : "") + std::to_string(index % shape.extent[d]));
    index /= shape.extent[d];
  }
  return '[' + text;
}

}  // namespace

std::string whose_put(int compute_rank, const array::Region& region) {
  return "compute rank " + std::to_string(compute_rank) + " (" + array::text(region) + ')';
}

Outcome overlap(const Variable& variable, std::int64_t index, const std::string& one,
                const std::string& other) {
  return {ErrorCode::overlapping_puts, "variable \"" + variable.name + "\": puts of " + one +
                                           " and of " + other + " overlap: both have element " +
                                           position(variable.shape, index)};
}

}  // namespace iocomp::contents
