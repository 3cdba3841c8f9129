// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace iocomp::topology {

/// A hardware thread.
struct Thread {
  int cpu = 0;          ///< number that the operating system and the launchers use
  bool allowed = true;  ///< by the cgroup and the affinity mask
};

struct Core {
  int package = 0;
  int numa = 0;
  int l3 = -1;  ///< number of the cores' common L3 cache; -1: none is known
  std::vector<Thread> threads;
};

/// A node as plain values. Packages, NUMA domains and L3 caches are numbered from 0 within the
/// node; cores are in the order of the machine, so that neighbours share what they can.
struct Node {
  std::string source;  ///< "this machine", or the description it was made from
  int packages = 0;
  int numa_domains = 0;
  int l3_groups = 0;  ///< 0: no L3 cache is known
  std::vector<Core> cores;
  /// The number of each NUMA domain in the operating system.
  std::vector<int> numa_numbers{};
};

[[nodiscard]] std::size_t thread_count(const Node& node) noexcept;

/// Keep only what is allowed already and in `cpus`.
/// @throws Error{invalid_argument} naming a CPU that the node does not have, or when nothing is
/// left.
void restrict_to(Node& node, const std::vector<int>& cpus);

}  // namespace iocomp::topology
