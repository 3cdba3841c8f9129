// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "array/element_type.h"
#include "base/descriptor.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// Write the fill value of a variable to `bytes` of a file.
/// @param order  of the bytes of an element there.
/// @param attributes  of the variable: _FillValue counts, if it is there.
/// @throws Error{storage_failure}.
void fill(const Descriptor& file, const std::string& path, std::int64_t offset, std::int64_t bytes,
          array::ElementType type, std::endian order, const Attributes& attributes);

}  // namespace iocomp::formats::cdf
