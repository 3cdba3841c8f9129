// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "array/box.h"

namespace iocomp::formats {

/// Elements `first` to `first + count` of the packed order of `box` as boxes that follow one
/// another in that order: per dimension at most a head and a tail, and one body. Empty boxes are
/// left out.
/// @pre 0 <= first, first + count <= elements(box).
[[nodiscard]] std::vector<array::Box> sub_boxes(const array::Box& box, std::int64_t first,
                                                std::int64_t count);

}  // namespace iocomp::formats
