// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/join_node.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mpi/agree.h"
#include "mpi/wait.h"
#include "transport/shared_memory/node_plan.h"
#include "transport/shared_memory/share_segment.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {

NodeMemory join_node(MPI_Comm node, int session_rank, bool serves, const std::string& segment,
                     const mpi::WaitPolicy& policy) {
  const auto roles = mpi::gather_to_all(node, serves ? 1 : 0, policy, others_of_node);
  const auto ranks = mpi::gather_to_all(node, session_rank, policy, others_of_node);
  const auto pids = mpi::gather_to_all(node, getpid(), policy, others_of_node);
  NodeMemory memory{.plan = NodePlan{{roles.begin(), roles.end()}},
                    .self = 0,
                    .ranks = {ranks.begin(), ranks.end()},
                    .pids = {pids.begin(), pids.end()},
                    .segment = {},
                    .knows_processes = true,
                    .kind = {}};
  NodeSegment shared =
      share_segment(node, memory.plan.bytes(), SharedMapping::Pages::reserved, segment, policy);
  memory.self = shared.self;
  memory.segment = std::move(shared.mapping);
  memory.knows_processes = shared.knows_processes;
  memory.kind = std::move(shared.kind);
  if (!memory.knows_processes) {
    std::ranges::fill(memory.pids, unknown_process);
  }
  return memory;
}

}  // namespace iocomp::transport
