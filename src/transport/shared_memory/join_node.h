// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "mpi/wait.h"
#include "transport/shared_memory/node_plan.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

/// Stands for a process whose id the system does not know.
constexpr pid_t unknown_process = -1;

/// The processes of a node with their segment, as one of them sees it.
struct NodeMemory {
  NodePlan plan;
  std::size_t self = 0;     ///< number of this process on the node
  std::vector<int> ranks;   ///< session rank of each process
  std::vector<pid_t> pids;  ///< process id of each; unknown_process if they do not know these
  SharedMapping segment;
  bool knows_processes = true;  ///< true if all see one another under their process ids
  std::string kind;             ///< "memfd", "shm"
};

/// Make and map the segment of a node, unlinked when this returns. Collective over `node`, as is
/// the failure.
/// @param segment  "auto", "memfd" or "shm" (test.segment).
/// @throws Error{out_of_staging_memory} or {unsupported}, on all ranks of the node.
[[nodiscard]] NodeMemory join_node(MPI_Comm node, int session_rank, bool serves,
                                   const std::string& segment, const mpi::WaitPolicy& policy);

}  // namespace iocomp::transport
