// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iocomp/iocomp.h>

#include <cstddef>
#include <cstdint>
#include <span>

/// Values that tell where they belong: the bytes of every element follow from the variable (its
/// seed), the step and the global index, so that an element that lies in a wrong place is found
/// out. tests/conformance/files/element_pattern.py computes the same.
namespace pattern {

/// Write the bytes of one element. @pre bytes.size() == iocomp_type_size(type).
void fill(iocomp_type type, std::uint64_t seed, std::int64_t step, std::int64_t index,
          std::span<std::byte> bytes);

}  // namespace pattern
