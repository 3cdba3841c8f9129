// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "hand_off/options.h"

namespace iocomp::bench {

/// Before each put, so that whoever receives sleeps, and caches are as after a compute phase.
void pause(const HandOffOptions& options);

/// The baselines of a hand-off, by size: "memcpy" on rank 0 and, with 2 ranks, the time inside
/// MPI_Isend ("mpi_isend") and until it is complete ("mpi_handed_over"), with the receiver in
/// MPI_Recv. Collective over MPI_COMM_WORLD; before iocomp_init, which servers do not leave.
/// @return null on ranks other than 0.
[[nodiscard]] nlohmann::json measure_baseline(const HandOffOptions& options);

}  // namespace iocomp::bench
