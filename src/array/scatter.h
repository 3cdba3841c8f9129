// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/box.h"
#include "array/region.h"

namespace iocomp::array {

/// Elements `first` to `first + count` of the packed order of a region, one behind the other.
struct PackedElements {
  const Shape& shape;    ///< of the variable
  const Region& region;  ///< in it
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::size_t element_bytes = 0;
  const std::byte* bytes = nullptr;
};

/// Copy them to their places in memory that has the variable from its element `begin` on, past the
/// caches: for bytes that are written to a file next.
/// @param swapped_bytes  of each number whose bytes are reversed; 0: they stay as they are.
/// @pre that memory has all of them.
void scatter(const PackedElements& elements, std::size_t swapped_bytes, std::byte* memory,
             std::int64_t begin);

}  // namespace iocomp::array
