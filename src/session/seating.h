// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "placement/placement.h"
#include "placement/seats.h"
#include "topology/node.h"

namespace iocomp::session {

/// The seats of the ranks of a job, read back from the system. The first rank of every node knows
/// those of its node; nobody knows all.
class Seating {
 public:
  /// Find out who shares a node. Collective over `comm`.
  Seating(const mpi::Communicator& comm, const mpi::WaitPolicy& policy);

  /// The ranks of this node, in the order of all.
  [[nodiscard]] MPI_Comm node() const noexcept { return node_.raw(); }
  /// The number of nodes of the job.
  [[nodiscard]] std::int64_t nodes() const noexcept { return nodes_; }

  /// The session rank of this rank's server (its own if it serves), from where the ranks sit;
  /// nothing on all ranks where some are not bound to cores. Collective.
  [[nodiscard]] std::optional<int> by_seats(const placement::Request& request);

  /// The share of its hardware threads that other compute ranks leave to this rank: 0.5
  /// where two share one. For a server, how much compute ranks leave: 0 on the hardware thread of
  /// one. Collective over the node.
  [[nodiscard]] double core_share(bool computes) const;

  /// Compare with placement.mapping, write placement.report. Collective.
  /// @param server  session rank of this rank's server, its own if it serves, -1 without servers.
  /// @return on rank 0 what to warn of, empty if there is nothing.
  /// @throws Error{invalid_setting} on all ranks for a mismatch under placement.strict.
  std::string check(int server, const std::string& reason, const config::Settings& settings);

 private:
  [[nodiscard]] bool leads_node() const noexcept { return !ranks_.empty(); }
  [[nodiscard]] std::vector<int> on_node(const std::vector<int>& server_of) const;
  void report(const std::string& path, const std::string& head, const std::string& table);
  [[nodiscard]] std::string rows(const std::vector<int>& server_of, const std::vector<int>& here,
                                 placement::Pairs& pairs) const;

  MPI_Comm comm_;
  const mpi::WaitPolicy& policy_;
  int rank_;
  mpi::Communicator node_;
  std::int64_t nodes_ = 1;
  // This node, in the order of its ranks, on its first rank:
  topology::Node machine_;
  std::string host_;
  std::int64_t number_ = 0;  // nodes are numbered in the order of their first ranks
  std::vector<int> ranks_;
  std::vector<std::vector<int>> cpus_;
};

}  // namespace iocomp::session
