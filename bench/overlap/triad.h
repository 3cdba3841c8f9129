// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "common/huge_memory.h"

namespace iocomp::bench {

/// The memory-bound work of a compute phase: u = a + q b.
class Triad {
 public:
  explicit Triad(std::size_t elements);

  /// Fill `u` (as long as a and b), over and over, until `total` elements have been written, all at
  /// least once.
  void run(double* u, double q, std::size_t total) const;

 private:
  apps::HugeArray a_;
  apps::HugeArray b_;
};

}  // namespace iocomp::bench
