// SPDX-License-Identifier: BSD-3-Clause
#include "base/order.h"

#include <cstddef>
#include <vector>

namespace iocomp {

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

}  // namespace iocomp
