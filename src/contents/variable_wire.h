// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "array/element_type.h"
#include "base/wire.h"
#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::contents {

// These functions encode and decode descriptions of variables. Bytes that are read are checked, and
// refused with an Error.

[[nodiscard]] array::ElementType get_type(WireReader& reader);

void put(WireWriter& writer, const Attribute& attribute);
[[nodiscard]] Attribute get_attribute(WireReader& reader);

/// Dimensions that the box does not have are left out.
void put(WireWriter& writer, const BlockSum& sum);
[[nodiscard]] BlockSum get_block_sum(WireReader& reader);
inline constexpr std::size_t least_bytes_of_sum = sizeof(std::int8_t) + sizeof(std::uint64_t);

}  // namespace iocomp::contents
