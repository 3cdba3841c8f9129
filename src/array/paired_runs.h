// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "array/box.h"
#include "array/memory_box.h"
#include "array/runs.h"

namespace iocomp::array {

/// Elements that follow one another both in the global array and in the local one.
struct PairedRun {
  std::int64_t index = 0;        ///< row-major index of the first element in the global array
  std::int64_t local_index = 0;  ///< and in the local one
  std::int64_t elements = 0;

  friend bool operator==(const PairedRun&, const PairedRun&) = default;
};

/// Walks over a block in the global and in the local array at once, in row-major order.
/// O(dimensions) memory.
class PairedRuns {
 public:
  /// @pre box and memory.box have as many elements in each dimension.
  PairedRuns(const Shape& shape, const Box& box, const MemoryBox& memory) noexcept
      : global_{shape, box, 0, elements(box)},
        local_{memory.shape, memory.box, 0, elements(memory.box)} {}

  /// The next run; false when there is none left.
  [[nodiscard]] bool next(PairedRun& run) noexcept;

 private:
  RunCursor global_;
  RunCursor local_;
  Run global_run_;  // what is left of the current runs
  Run local_run_;
};

}  // namespace iocomp::array
