// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/handle.h"
#include "mpi/wait.h"
#include "placement/placement.h"

namespace iocomp::session {

/// The decision of placement::place for this rank alone: its server's session rank, its own if it
/// serves. Needs memory for the ranks of a node and O(log ranks) steps. Collective over `all`.
/// @param node  the ranks that the request takes for a node, in the order of `all`.
/// @throws Error{invalid_setting}, the same on all ranks, as placement::place does.
[[nodiscard]] int place_rank(const mpi::Communicator& all, MPI_Comm node,
                             placement::Request request, const mpi::WaitPolicy& policy);

}  // namespace iocomp::session
