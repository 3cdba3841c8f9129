// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace iocomp::array {

/// Copy numbers of `number_bytes` bytes each (1, 2, 4 or 8) and reverse the bytes of every one.
/// `from` and `to` are equally long and the same memory or apart.
/// @throws Error{internal} for another size, or where a number would be cut.
void copy_swapped(std::span<const std::byte> from, std::span<std::byte> to,
                  std::size_t number_bytes);

/// The same into other memory, past the caches where that pays: see base/stream_copy.h.
void stream_swapped(std::span<const std::byte> from, std::span<std::byte> to,
                    std::size_t number_bytes);

/// Reverse the bytes of every number where it lies.
void swap_bytes(std::span<std::byte> numbers, std::size_t number_bytes);

}  // namespace iocomp::array
