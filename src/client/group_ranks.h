// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

namespace iocomp::client {

/// The ranks of a communicator as ranks of `all`.
/// @throws Error{invalid_argument} if `all` does not have them.
[[nodiscard]] std::vector<int> ranks_within(MPI_Comm all, MPI_Comm comm);

/// True if two communicators have the same ranks in the same order.
[[nodiscard]] bool have_same_ranks(MPI_Comm one, MPI_Comm other);

}  // namespace iocomp::client
