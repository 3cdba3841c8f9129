// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace iocomp::formats {

/// Sort the bytes of elements: all first ones, then all second ones, and so on, as HDF5's filter
/// does. Numbers that are alike become easier to compress.
/// @param to  as many bytes; apart from the elements.
void shuffle(std::span<const std::byte> elements, std::size_t element_bytes, std::byte* to);

/// The other way.
void unshuffle(std::span<const std::byte> shuffled, std::size_t element_bytes, std::byte* to);

}  // namespace iocomp::formats
