// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "array/box.h"
#include "formats/source.h"

namespace iocomp::formats {

/// The intersection of two boxes; nothing if it is empty. @pre they have as many dimensions.
[[nodiscard]] std::optional<array::Box> common(const array::Box& one, const array::Box& other);

/// A box, counted from where another one begins.
[[nodiscard]] array::Box relative(array::Box box, const array::Box& outer);

/// The place in memory of a part of the box that is read. @pre `part` lies in `box`.
/// @param box  the box that is read to `to`.
[[nodiscard]] array::MemoryBox memory_of(const array::Box& part, const array::Box& box,
                                         const Destination& to);

/// Elements of `part`, packed, go where they belong, as far as they lie in the box.
void copy_part(const array::Box& part, const std::byte* packed, const array::Box& box,
               const Destination& to, std::size_t element_bytes);

/// Elements of `part`, a part of the box, that are all alike.
void fill_part(const array::Box& part, const array::Box& box, const Destination& to,
               std::span<const std::byte> element);

}  // namespace iocomp::formats
