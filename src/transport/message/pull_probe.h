// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/wait.h"

namespace iocomp::transport {

/// Finds out whether a receiver can pull a large message by itself (CMA on a node, RDMA between
/// nodes) while its sender computes. The sender offers 1 MiB, stays out of MPI for 10 ms and then
/// asks when the receiver had it. Called by one compute rank and its home server, each naming the
/// other's rank in `comm`.
[[nodiscard]] bool probe_as_sender(MPI_Comm comm, int receiver, const mpi::WaitPolicy& policy);
void probe_as_receiver(MPI_Comm comm, int sender, const mpi::WaitPolicy& policy);

}  // namespace iocomp::transport
