#include "placement/order.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace iocomp::placement {

std::vector<int> serving_positions(Order order, int ranks, int servers) {
  const int stride = order == Order::spread && servers > 0 ? ranks / servers : 1;
  const int first = order == Order::tail ? ranks - servers : 0;
  std::vector<int> positions;
  positions.reserve(static_cast<std::size_t>(servers));
  for (int i = 0; i < servers; ++i) {
    positions.push_back(first + i * stride);
  }
  return positions;
}

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
