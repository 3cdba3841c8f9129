#pragma once

#include <mpi.h>

#include <cstddef>
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

/// Where the ranks of a job sit, read back from the system. The first rank of every node knows its
/// node; nobody knows the seats of all.
class Seating {
 public:
  /// Find out who shares a node. Collective over `comm`.
  Seating(const mpi::Communicator& comm, const mpi::WaitPolicy& policy);

  /// Nodes are numbered from 0 in the order of their first ranks.
  [[nodiscard]] const std::vector<int>& node_of_rank() const noexcept { return node_of_rank_; }

  /// Who serves whom, from where the ranks sit; nothing where they are not bound to cores.
  /// Collective.
  [[nodiscard]] std::optional<placement::Placement> by_seats(const placement::Request& request);

  /// Compare with placement.mapping, write placement.report. Collective.
  /// @return on rank 0 what to warn of, empty if there is nothing.
  /// @throws Error{invalid_setting} on all ranks for a mismatch under placement.strict.
  std::string check(const placement::Placement& placement, const config::Settings& settings);

 private:
  [[nodiscard]] bool leads_node() const noexcept { return !ranks_.empty(); }
  [[nodiscard]] placement::Closeness closeness_of(std::size_t rank, std::size_t server) const;
  [[nodiscard]] std::string rows(const std::vector<int>& server_of, placement::Pairs& pairs) const;

  MPI_Comm comm_;
  const mpi::WaitPolicy& policy_;
  mpi::Communicator node_;
  std::vector<int> node_of_rank_;
  // Of this node, in the order of its ranks, on its first rank:
  topology::Node machine_;
  std::string host_;
  std::vector<int> ranks_;
  std::vector<std::vector<int>> cpus_;
};

}  // namespace iocomp::session
