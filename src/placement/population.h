#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "placement/mapping.h"
#include "placement/node_cpus.h"
#include "topology/node.h"

namespace iocomp::placement {

struct Ratio {
  int compute = 1;
  int servers = 1;
};

/// The nodes of a job. Most are alike, so each kind is described once.
struct Machine {
  std::vector<topology::Node> kinds{};
  std::vector<std::size_t> kind_of_node{};  ///< by node
};

/// What is asked of a mapping. Numbers that are 0 are left to the mapping.
struct MapRequest {
  Mapping mapping = Mapping::consecutive;
  Machine machine{};
  int ranks = 0;                 ///< of the whole job, servers included
  int compute_ranks = 0;         ///< instead of `ranks`; both 0: as many as there is room for
  std::optional<Ratio> ratio{};  ///< unset: 1:1, or one server per domain
  int servers_per_node = 0;      ///< instead of a ratio
  int every = 0;                 ///< nodes: every m-th node serves
  /// consecutive, hyperthread, oversubscribe: ranks of a group, groups of compute ranks and of
  /// servers alternate (the NODESIZE of the CUG 2023 paper); others: ranks per node.
  int node_size = 0;
};

/// How many ranks of each kind every node gets. Ranks are numbered node by node, on each node the
/// compute ranks first.
/// @throws Error{invalid_argument} for what is impossible, naming the nearest that is possible.
[[nodiscard]] std::vector<Population> populate(const MapRequest& request);

/// Nodes that `ranks` ranks need with this node_size; 1 without one.
[[nodiscard]] int nodes_needed(Mapping mapping, int ranks, int node_size);

/// Whether groups of compute ranks and of servers alternate, as in policy halves.
[[nodiscard]] bool in_groups(const MapRequest& request);

}  // namespace iocomp::placement
