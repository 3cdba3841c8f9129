// SPDX-License-Identifier: BSD-3-Clause
#include "placement/shares.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace iocomp::placement {

std::vector<int> even_shares(int ranks, const std::vector<int>& room) {
  std::vector<std::size_t> smallest_first(room.size());
  std::iota(smallest_first.begin(), smallest_first.end(), std::size_t{0});
  std::ranges::sort(smallest_first, {},
                    [&room](std::size_t node) { return std::pair{room[node], node}; });
  // The level: what every node gets that has room for it.
  int level = 0;
  int left = ranks;
  int nodes_left = static_cast<int>(room.size());
  for (const auto node : smallest_first) {
    level = left / nodes_left;
    if (room[node] > level) {
      break;
    }
    left -= room[node];
    --nodes_left;
    level = nodes_left > 0 ? left / nodes_left : room[node];
  }
  std::vector<int> shares;
  left = ranks;
  for (const int limit : room) {
    shares.push_back(std::min(limit, level));
    left -= shares.back();
  }
  for (std::size_t node = 0; node < room.size() && left > 0; ++node) {
    if (shares[node] < room[node]) {
      ++shares[node];
      --left;
    }
  }
  return shares;
}

}  // namespace iocomp::placement
