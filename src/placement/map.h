// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "placement/placement.h"
#include "placement/population.h"

namespace iocomp::placement {

/// The seat of a rank.
struct Seat {
  bool serves = false;
  int node = 0;
  int cpu = -1;   ///< number in the operating system; -1: not said
  int pair = -1;  ///< its server, or the lowest compute rank that it serves; -1: there is none
};

struct Map {
  std::vector<Seat> seats{};  ///< by rank of the job
  /// With these settings the library finds the same servers and pairs. Meaningless without servers.
  Request settings{};
};

/// Seat all ranks. A pure function. Pairs are those of placement::place with `settings`.
/// @throws Error{invalid_argument} if it is impossible, naming the nearest that is possible.
[[nodiscard]] Map map_ranks(const MapRequest& request);

/// Seat the ranks of every node on its CPUs in order: first the first hardware thread of each core.
/// @throws Error{invalid_argument} naming a node that has too few.
void seat_in_order(Map& map, const Machine& machine);

/// The seats that a policy makes, without CPUs.
[[nodiscard]] Map map_policy(const Request& request, const std::vector<int>& node_of_rank);

}  // namespace iocomp::placement
