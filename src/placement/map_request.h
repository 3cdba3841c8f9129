// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "placement/mapping.h"
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

/// A request for a mapping. The mapping chooses numbers that are 0.
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

/// True if groups of compute ranks and of servers alternate, as in policy halves.
[[nodiscard]] bool in_groups(const MapRequest& request);

/// Mapping nodes: every so many-th node serves.
[[nodiscard]] std::size_t serving_period(const MapRequest& request);

/// Refuse a request that is impossible for any number of ranks.
/// @throws Error{invalid_argument} naming the nearest that is possible.
void check(const MapRequest& request);

/// @throws Error{invalid_argument}
[[noreturn]] void impossible(const std::string& what);
[[nodiscard]] std::string number_text(int number);
/// "1 node", "4 nodes".
[[nodiscard]] std::string nodes_text(std::size_t nodes);

}  // namespace iocomp::placement
