// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "config/settings.h"
#include "mpi/wait.h"
#include "session/ranks.h"
#include "session/seating.h"

namespace iocomp::session {

/// A server's share of its node's memory limit, and the sizes that follow from it.
struct MemoryShares {
  std::size_t staging_bytes = 0;  ///< of this server
  std::size_t chunk_bytes = 0;    ///< the largest message of data, the same on all ranks
};

/// The staging limit is the node's: whatever the policy calls a node, memory is shared by those
/// that share it. Collective over all ranks.
/// @throws Error{invalid_setting}, the same on all ranks, when a server has too little.
[[nodiscard]] MemoryShares share_memory(const Ranks& ranks, const Seating& seating,
                                        const config::Settings& settings,
                                        const mpi::WaitPolicy& policy);

}  // namespace iocomp::session
