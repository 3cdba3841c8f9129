// SPDX-License-Identifier: BSD-3-Clause
#include "block.h"

#include <functional>
#include <numeric>
#include <utility>

namespace actor {
namespace {

/// The row-major index, in an array of this shape, of where row `row` of a box begins.
std::int64_t first_index(const Extents& shape, const Extents& start, const Extents& count,
                         std::int64_t row) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::int64_t inside = 0;
    if (d + 1 < shape.size()) {
      inside = row % count[d];
      row /= count[d];
    }
    index += (start[d] + inside) * stride;
    stride *= shape[d];
  }
  return index;
}

}  // namespace

std::int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
}

Block Block::of(Extents shape, Extents start, Extents count) {
  const Extents origin(count.size(), 0);
  return {std::move(shape), std::move(start), count, count, origin};
}

std::size_t Block::memory_bytes(const Values& values) const {
  return static_cast<std::size_t>(product(memory_shape)) * values.element_bytes();
}

std::vector<std::byte> Block::local_array(const Values& values, std::int64_t step) const {
  std::vector<std::byte> memory(memory_bytes(values), poison);
  const std::int64_t row_length = count.empty() ? 1 : count.back();
  const std::int64_t rows = row_length == 0 ? 0 : product(count) / row_length;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<std::size_t>(first_index(memory_shape, memory_start, count, row));
    values.fill(memory.data() + at * values.element_bytes(), first_index(shape, start, count, row),
                row_length, step);
  }
  return memory;
}

}  // namespace actor
