// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "array/box.h"
#include "unit/seed.h"

namespace iocomp::array {

/// A shape and a block in it, with what is true of them found by walking over every element.
struct RandomBlock {
  Shape shape;
  Box box;
  std::vector<std::int64_t>
      indices;  ///< row-major index in the shape of each element of the block, in packed order
};

inline RandomBlock enumerate(const Shape& shape, const Box& box) {
  RandomBlock block{.shape = shape, .box = box, .indices = {}};
  for (std::int64_t index = 0; index < elements(shape); ++index) {
    std::int64_t left = index;
    bool is_inside = true;
    for (int d = shape.dimensions - 1; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      const std::int64_t at = left % shape.extent[i];
      left /= shape.extent[i];
      is_inside = is_inside && at >= box.start[i] && at < box.start[i] + box.count[i];
    }
    if (is_inside) {
      block.indices.push_back(index);
    }
  }
  return block;
}

/// Up to 8 dimensions and a few thousand elements; whole and empty dimensions are frequent.
template <typename Generator>
RandomBlock random_block(Generator& generator) {
  const auto dimensions = static_cast<int>(draw(generator, 0, max_dimensions));
  const int longest = dimensions <= 2 ? 20 : (dimensions <= 4 ? 6 : 3);
  Extents extent{};
  Extents start{};
  Extents count{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
    extent[d] = draw(generator, draw(generator, 0, 30) == 0 ? 0 : 1, longest);
    if (draw(generator, 0, 2) == 0) {
      count[d] = extent[d];
    } else {
      start[d] = draw(generator, 0, extent[d]);
      count[d] = draw(generator, draw(generator, 0, 30) == 0 ? 0 : 1, longest);
      count[d] = std::min(count[d], extent[d] - start[d]);
    }
  }
  const Shape shape = make_shape(dimensions, extent.data());
  return enumerate(shape, make_box(shape, start.data(), count.data()));
}

}  // namespace iocomp::array
