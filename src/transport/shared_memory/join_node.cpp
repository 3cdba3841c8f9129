// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/join_node.h"

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "transport/shared_memory/node_plan.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {
namespace {

constexpr const char* others = "the other ranks of the node in iocomp_init";

std::string new_name() {
  static std::atomic<unsigned> count{0};
  return "iocomp-" + std::to_string(getpid()) + '-' + std::to_string(count++);
}

// Of processes that see one another under their numbers: the same.
std::int64_t process_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : 0;
}

// One way to do it. Collective over `node`.
Outcome map_segment(MPI_Comm node, NodeMemory& memory, SharedMapping::Kind kind,
                    const mpi::WaitPolicy& policy) {
  const std::size_t bytes = memory.plan.bytes();
  std::string path;
  Outcome mapped;
  if (memory.self == 0) {
    mapped = outcome_of([&] {
      memory.segment = SharedMapping::create(kind, new_name(), bytes);
      path = memory.segment.path();
    });
  }
  mpi::broadcast(node, 0, path, policy, others);
  if (memory.self != 0 && !path.empty()) {
    mapped = outcome_of([&] { memory.segment = SharedMapping::open(path, bytes, true); });
  }
  mapped = mpi::agree(node, mapped, policy, others);
  memory.segment.forget_name();  // whatever happens from here on, nothing stays behind
  if (!mapped.ok()) {
    memory.segment = {};
  }
  return mapped;
}

}  // namespace

NodeMemory join_node(MPI_Comm node, int session_rank, bool serves, const std::string& segment,
                     const mpi::WaitPolicy& policy) {
  int self = 0;
  mpi::check(MPI_Comm_rank(node, &self));
  const auto roles = mpi::gather_to_all(node, serves ? 1 : 0, policy, others);
  const auto ranks = mpi::gather_to_all(node, session_rank, policy, others);
  const auto pids = mpi::gather_to_all(node, getpid(), policy, others);
  const auto spaces = mpi::gather_to_all(node, process_namespace(), policy, others);
  // In namespaces of their own a number may be that of another process.
  const bool knows_processes =
      std::ranges::count(spaces, spaces.front()) == static_cast<std::ptrdiff_t>(spaces.size());
  NodeMemory memory{.plan = NodePlan{{roles.begin(), roles.end()}},
                    .self = static_cast<std::size_t>(self),
                    .ranks = {ranks.begin(), ranks.end()},
                    .pids = {pids.begin(), pids.end()},
                    .segment = {},
                    .knows_processes = knows_processes,
                    .kind = "memfd"};
  Outcome mapped{ErrorCode::unsupported,
                 knows_processes ? "" : "the ranks of a node are in PID namespaces of their own"};
  if (!knows_processes) {
    std::ranges::fill(memory.pids, unknown_process);
  }
  if (segment != "shm" && knows_processes) {
    mapped = map_segment(node, memory, SharedMapping::Kind::memfd, policy);
  }
  if (!mapped.ok() && segment != "memfd") {
    memory.kind = "shm";
    const std::string before = mapped.story.empty() ? "" : mapped.story + "; ";
    mapped = map_segment(node, memory, SharedMapping::Kind::shm, policy);
    mapped.story = before + mapped.story;
  }
  mapped.throw_unless_ok();
  return memory;
}

}  // namespace iocomp::transport
