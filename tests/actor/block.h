// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "values.h"

namespace actor {

using Extents = std::vector<std::int64_t>;

[[nodiscard]] std::int64_t product(const Extents& extents);

/// A box of a variable, and where it lies in a local array.
struct Block {
  Extents shape, start, count;  // in the variable
  Extents memory_shape, memory_start;

  /// The box alone in its local array.
  [[nodiscard]] static Block of(Extents shape, Extents start, Extents count);
  [[nodiscard]] bool fills_memory() const { return memory_shape == count; }
  [[nodiscard]] bool is_empty() const { return product(count) == 0; }
  [[nodiscard]] std::size_t memory_bytes(const Values& values) const;
  /// The local array: values inside the block, poison around it.
  [[nodiscard]] std::vector<std::byte> local_array(const Values& values, std::int64_t step) const;
};

inline constexpr std::byte poison{0xa5};  // what no file may contain

}  // namespace actor
