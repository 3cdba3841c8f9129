// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "common/huge_memory.h"

namespace iocomp::apps::blocks {

/// The computing before a step: a triad that writes so many elements, longer or shorter as a
/// multiple of what a synchronous write of the step takes. In a part of it nothing is computed.
class Phase {
 public:
  /// @param multiple  0: no computing at all. Collective over `comm`: finds out how fast it is.
  /// @param waits  the part of a phase in which this rank sleeps, after each pass over the arrays.
  Phase(MPI_Comm comm, double multiple, double waits);

  void run();
  [[nodiscard]] std::size_t elements() const noexcept { return elements_; }

  /// Takes the time per step of the fastest synchronous way. The next phases follow the last three.
  void follow(double write_seconds_per_step);

 private:
  double multiple_;
  double waits_;
  double elements_per_second_ = 0;
  std::size_t elements_ = 0;
  std::vector<double> writes_;
  apps::HugeArray a_, b_, c_;
};

}  // namespace iocomp::apps::blocks
