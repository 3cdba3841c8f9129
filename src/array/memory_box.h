// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/box.h"

namespace iocomp::array {

/// The place of a block in a local array: `start` and `count` of the block inside `shape`, the
/// extents of the array.
struct MemoryBox {
  Shape shape;
  Box box;
};

/// Check a memory box for a block of `count` elements per dimension; null pointers mean a dense
/// block.
/// @throws Error{invalid_argument} naming the dimension in which the block leaves the local array.
[[nodiscard]] MemoryBox make_memory_box(const Box& block, const std::int64_t* memory_shape,
                                        const std::int64_t* memory_start);

/// The box of elements that lie one behind the other.
[[nodiscard]] MemoryBox dense_memory(std::int64_t elements) noexcept;

/// Copy elements `first` to `first + count` of the block's packed order from the local array to
/// `packed`.
void pack(const MemoryBox& memory, std::size_t element_bytes, const std::byte* local,
          std::int64_t first, std::int64_t count, std::byte* packed) noexcept;

/// The other way: copy elements `first` to `first + count` of the packed order to where they belong
/// in the local array.
void unpack(const MemoryBox& memory, std::size_t element_bytes, const std::byte* packed,
            std::int64_t first, std::int64_t count, std::byte* local) noexcept;

}  // namespace iocomp::array
