// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/order.h"

namespace iocomp::placement {

using iocomp::Order;
using iocomp::serving_positions;

/// Ranks of the job that aggregate, `per_node` on every node (all of them where a node has fewer),
/// ascending; ranks are numbered node by node.
[[nodiscard]] std::vector<int> aggregators(Order order, const std::vector<int>& ranks_of_node,
                                           int per_node);

}  // namespace iocomp::placement
