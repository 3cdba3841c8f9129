#pragma once

#include <span>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"

namespace iocomp::array {

/// Whether two regions of an array may have elements in common: exact for two boxes, else by where
/// they begin and end. O(dimensions).
[[nodiscard]] bool may_meet(const Shape& shape, const Region& one, const Region& other) noexcept;

/// What of a region is in none of the others. These may overlap one another.
/// O(runs * log(others)); memory O(others), beside the result.
[[nodiscard]] RunList subtract(const Shape& shape, const Region& region,
                               std::span<const Region> others);

}  // namespace iocomp::array
