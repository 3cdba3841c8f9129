// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "array/region.h"
#include "base/error.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// "compute rank 3 ([0:4, 8:16])"
[[nodiscard]] std::string whose_put(int compute_rank, const array::Region& region);

/// The failure of a step in which two puts of a variable cover the same element.
/// @param index  row-major, of such an element.
[[nodiscard]] Outcome overlap(const Variable& variable, std::int64_t index, const std::string& one,
                              const std::string& other);

}  // namespace iocomp::contents
