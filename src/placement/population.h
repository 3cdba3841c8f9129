// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "placement/map_request.h"
#include "placement/mapping.h"
#include "placement/node_cpus.h"

namespace iocomp::placement {

/// The number of ranks of each kind on every node. Ranks are numbered node by node, on each node
/// the compute ranks first.
/// @throws Error{invalid_argument} if it is impossible, naming the nearest that is possible.
[[nodiscard]] std::vector<Population> populate(const MapRequest& request);

/// Nodes that `ranks` ranks need with this node_size; 1 without one.
[[nodiscard]] int nodes_needed(Mapping mapping, int ranks, int node_size);

}  // namespace iocomp::placement
