// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"

namespace iocomp::array {

/// A part of an array that was put: elements `first` to `first + count` of a region's packed order.
struct Part {
  Region region;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The elements of an array that no part covers, and those that two parts share.
struct Coverage {
  struct Overlap {
    std::size_t one = 0;  ///< number of a part
    std::size_t other = 0;
    std::int64_t index = 0;  ///< the first element that both cover
  };
  std::optional<Overlap> overlap;  ///< the first one
  RunList holes;                   ///< what no part covers
};

/// O(runs * log(parts)); memory O(parts + holes).
[[nodiscard]] Coverage coverage_of(const Shape& shape, std::span<const Part> parts);

}  // namespace iocomp::array
