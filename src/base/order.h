// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace iocomp {

/// A choice of the ranks of a node that serve, or aggregate.
enum class Order {
  packed,  ///< the lowest
  spread,  ///< each (N/k)-th of N ranks, k being the number of servers: s = N/k - 1 are skipped
           ///< after each (Cha, Maeng: An Efficient I/O Aggregator Assignment Scheme for Collective
           ///< I/O Considering Processor Affinity, 2011)
  tail,    ///< the highest
};

/// Positions on a node of `ranks` ranks, ascending.
/// @pre 0 <= servers <= ranks
[[nodiscard]] std::vector<int> serving_positions(Order order, int ranks, int servers);

}  // namespace iocomp
