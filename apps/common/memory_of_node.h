// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

namespace iocomp::apps {

/// The memory that a node has free, and how much of it is wanted.
struct MemoryOfNode {
  double wanted_bytes = 0;  ///< by all ranks of the node together
  double free_bytes = 0;    ///< without swapping; 0 where the system does not tell

  [[nodiscard]] bool is_enough() const noexcept {
    return free_bytes == 0 || wanted_bytes <= free_bytes;
  }
};

/// That of the node that lacks most. Memory is given out when it is touched, so an allocation that
/// is too large would only end the job later, without a word. Collective over `comm`.
/// @param wanted_bytes  by this rank.
[[nodiscard]] MemoryOfNode memory_of_node(MPI_Comm comm, double wanted_bytes);

}  // namespace iocomp::apps
