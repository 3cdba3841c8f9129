// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/share_segment.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/system_file.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/wait.h"
#include "transport/shared_memory/shared_mapping.h"

namespace iocomp::transport {
namespace {

std::string new_name() {
  static std::atomic<unsigned> count{0};
  return "iocomp-" + std::to_string(getpid()) + '-' + std::to_string(count++);
}

// Tries one way to map a segment. Collective over `node`.
Outcome map_segment(MPI_Comm node, NodeSegment& segment, SharedMapping::Kind kind,
                    std::size_t bytes, SharedMapping::Pages pages, const mpi::WaitPolicy& policy) {
  std::string path;
  Outcome mapped;
  if (segment.self == 0) {
    mapped = outcome_of([&] {
      segment.mapping = SharedMapping::create(kind, new_name(), bytes, pages);
      path = segment.mapping.path();
    });
  }
  mpi::broadcast(node, 0, path, policy, others_of_node);
  if (segment.self != 0 && !path.empty()) {
    mapped = outcome_of([&] { segment.mapping = SharedMapping::open(path, bytes, true, pages); });
  }
  mapped = mpi::agree(node, mapped, policy, others_of_node);
  segment.mapping.forget_name();  // whatever happens from here on, no file stays behind
  if (!mapped.ok()) {
    segment.mapping = {};
  }
  return mapped;
}

}  // namespace

NodeSegment share_segment(MPI_Comm node, std::size_t bytes, SharedMapping::Pages pages,
                          const std::string& segment, const mpi::WaitPolicy& policy) {
  int self = 0;
  mpi::check(MPI_Comm_rank(node, &self));
  const auto spaces = mpi::gather_to_all(node, own_namespace("pid"), policy, others_of_node);
  NodeSegment shared;
  shared.self = static_cast<std::size_t>(self);
  shared.processes = spaces.size();
  // In namespaces of their own, a number may mean another process.
  shared.knows_processes =
      std::ranges::count(spaces, spaces.front()) == static_cast<std::ptrdiff_t>(spaces.size());
  shared.kind = "memfd";
  Outcome mapped{
      ErrorCode::unsupported,
      shared.knows_processes ? "" : "the ranks of a node are in PID namespaces of their own"};
  if (segment != "shm" && shared.knows_processes) {
    mapped = map_segment(node, shared, SharedMapping::Kind::memfd, bytes, pages, policy);
  }
  if (!mapped.ok() && segment != "memfd") {
    shared.kind = "shm";
    const std::string before = mapped.story.empty() ? "" : mapped.story + "; ";
    mapped = map_segment(node, shared, SharedMapping::Kind::shm, bytes, pages, policy);
    mapped.story = before + mapped.story;
  }
  mapped.throw_unless_ok();
  return shared;
}

}  // namespace iocomp::transport
