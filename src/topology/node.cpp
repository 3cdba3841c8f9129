// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::topology {

std::size_t thread_count(const Node& node) noexcept {
  std::size_t count = 0;
  for (const auto& core : node.cores) {
    count += core.threads.size();
  }
  return count;
}

void restrict_to(Node& node, const std::vector<int>& cpus) {
  std::set<int> missing(cpus.begin(), cpus.end());
  const std::set<int> wanted = missing;
  bool any = false;
  int highest = 0;
  for (auto& core : node.cores) {
    for (auto& thread : core.threads) {
      missing.erase(thread.cpu);
      highest = std::max(highest, thread.cpu);
      thread.allowed = thread.allowed && wanted.contains(thread.cpu);
      any = any || thread.allowed;
    }
  }
  if (!missing.empty()) {
    throw Error{ErrorCode::invalid_argument, "there is no CPU " + std::to_string(*missing.begin()) +
                                                 " on " + node.source + ", which has " +
                                                 std::to_string(thread_count(node)) +
                                                 " up to number " + std::to_string(highest)};
  }
  if (!any) {
    throw Error{ErrorCode::invalid_argument, "no CPU of " + node.source + " is left to use"};
  }
}

}  // namespace iocomp::topology
