// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

#include "mpi/wait.h"

namespace iocomp::mpi {

/// The way to bring times of one process onto the axis of rank 0.
struct ClockOffset {
  double seconds = 0;        ///< to be added
  double error_seconds = 0;  ///< at most so far off; 0 where rank 0 has the same clock
};

/// The identity of the clock that `now_seconds` reads: the same number in all processes of one
/// running system (and of one time namespace in it).
[[nodiscard]] std::int64_t clock_identity();

/// One rank of each other clock asks rank 0 what time it is, some times, and believes the answer
/// that came fastest: it is off by at most half the time of its way there and back. Collective over
/// `comm`; nothing else may travel there with `tag`.
/// @param identity  of this process's clock.
/// @param now  reads it.
[[nodiscard]] ClockOffset clock_offset(MPI_Comm comm, int tag, std::int64_t identity,
                                       const std::function<double()>& now,
                                       const WaitPolicy& policy);

}  // namespace iocomp::mpi
