// SPDX-License-Identifier: BSD-3-Clause
#include "placement/order.h"

#include <algorithm>
#include <vector>

namespace iocomp::placement {

std::vector<int> aggregators(Order order, const std::vector<int>& ranks_of_node, int per_node) {
  std::vector<int> found;
  int first = 0;
  for (const int ranks : ranks_of_node) {
    for (const int position : serving_positions(order, ranks, std::min(per_node, ranks))) {
      found.push_back(first + position);
    }
    first += ranks;
  }
  return found;
}

}  // namespace iocomp::placement
