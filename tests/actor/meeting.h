// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace actor {

/// Wait for all ranks with naps, while MPI's own work goes on. Collective over `comm`.
void meet_asleep(MPI_Comm comm);

}  // namespace actor
