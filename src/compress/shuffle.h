// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "compress/bench.h"

namespace iocomp::compress {

/// Sort the bytes of elements: all first ones, then all second ones, and so on, as HDF5's filter
/// does. Numbers that are alike become easier to compress. Bytes behind the last whole element stay
/// where they are.
/// @param to  as many bytes; apart from the elements.
void shuffle(std::span<const std::byte> elements, std::size_t element_bytes, std::byte* to);
/// The same, on the bench; elements of one byte stay where they are.
[[nodiscard]] std::span<const std::byte> shuffled(std::span<const std::byte> elements,
                                                  std::size_t element_bytes, Bench& bench);

/// The other way.
void unshuffle(std::span<const std::byte> shuffled, std::size_t element_bytes, std::byte* to);

}  // namespace iocomp::compress
