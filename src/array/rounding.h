// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "array/element_type.h"

namespace iocomp::array {

/// Bits of the mantissa that numbers of a type store, without the leading one: 23 of float32, 52 of
/// float64, those of its parts of a complex type; 0 of a type that is not rounded.
[[nodiscard]] int mantissa_bits(ElementType type) noexcept;

/// Round numbers to `keep_bits` stored bits of their mantissa, where they lie: to nearest, ties to
/// even, so that the other bits are 0. A normal number moves by 2^-(keep_bits + 1) of its value at
/// most. NaN and infinities stay as they are; so do numbers that would become infinite, those that
/// are `fill`, and those that would become it. Rounding twice is rounding once.
///
/// Sources: Kouznetsov, "A note on precision-preserving compression of scientific data", Geosci.
/// Model Dev. 14 (2021), https://doi.org/10.5194/gmd-14-377-2021; Klöwer et al., "Compressing
/// atmospheric data into its real information content", Nat. Comput. Sci. 1 (2021),
/// https://doi.org/10.1038/s43588-021-00156-2. It is what netCDF calls BitRound.
///
/// @param elements  whole ones of the type.
/// @param fill  one element in the order of this machine; empty: none.
/// @param is_swapped  the bytes of every number in `elements` are reversed.
/// @pre 0 < keep_bits < mantissa_bits(type).
void round_to_bits(ElementType type, int keep_bits, std::span<std::byte> elements,
                   std::span<const std::byte> fill = {}, bool is_swapped = false);

}  // namespace iocomp::array
