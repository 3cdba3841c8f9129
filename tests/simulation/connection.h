// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

#include "base/crew.h"
#include "mpi/wait.h"
#include "plan.h"
#include "transport/transport.h"

namespace simulation {

/// Connects a rank of a job to those of the other role, as the session does it.
/// Collective over `all`.
/// @param crew  the threads that copy; null: the caller alone.
/// @param node  the ranks of `all` on the node of this one.
[[nodiscard]] std::unique_ptr<iocomp::transport::Transport> connect(
    const Plan& plan, MPI_Comm all, MPI_Comm node, bool serves,
    const iocomp::mpi::WaitPolicy& policy, iocomp::Crew* crew);

}  // namespace simulation
