// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/wait.h"

namespace iocomp::mpi {

struct Letter {
  int rank = 0;  ///< to whom; after delivery from whom
  std::vector<int> numbers{};
};

/// Deliver letters where nobody knows how many he will get, in O(log ranks) steps beside the
/// letters (nonblocking consensus: Hoefler, Siebert, Lumsdaine, PPoPP 2010). Collective over
/// `comm`; nothing else may travel there with `tag`.
/// @return those for this rank, by sender.
[[nodiscard]] std::vector<Letter> deliver(MPI_Comm comm, int tag,
                                          const std::vector<Letter>& letters,
                                          const WaitPolicy& policy, const char* what);

}  // namespace iocomp::mpi
