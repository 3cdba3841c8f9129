// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "placement/mapping.h"
#include "topology/node.h"

namespace iocomp::placement {

/// The number of ranks of each kind on a node.
struct Population {
  int compute = 0;
  int servers = 0;
};

/// The part of a node that a mapping may use: the cores with an allowed hardware thread, in order.
class UsableCores {
 public:
  struct Core {
    int package;
    int numa;
    int l3;
    std::vector<int> cpus;  ///< allowed hardware threads, by their number in the operating system
  };

  explicit UsableCores(const topology::Node& node);

  [[nodiscard]] const std::vector<Core>& cores() const noexcept { return cores_; }
  [[nodiscard]] int core_count() const noexcept { return static_cast<int>(cores_.size()); }
  [[nodiscard]] int thread_count() const noexcept { return threads_; }
  /// Cores with at least two allowed hardware threads.
  [[nodiscard]] int smt_core_count() const noexcept { return smt_cores_; }

  /// Indices of the cores of every L3 group (NUMA domain; else all in one), empty ones left out.
  [[nodiscard]] std::vector<std::vector<std::size_t>> domains(Mapping mapping) const;
  /// The distance of two cores: 0 the same L3, 1 NUMA domain, 2 package, 3 another package.
  [[nodiscard]] int distance(std::size_t left, std::size_t right) const;

 private:
  std::vector<Core> cores_;
  int threads_ = 0;
  int smt_cores_ = 0;
};

/// True if this mapping has room for them.
[[nodiscard]] bool fits(Mapping mapping, const UsableCores& cores, const Population& population);

/// The CPUs of the ranks of one node: compute ranks in order, then servers.
/// @param home  by compute rank: which of the servers of this node it belongs to; -1: none here.
/// @pre fits(mapping, cores, {home.size(), servers})
[[nodiscard]] std::vector<int> assign_cpus(Mapping mapping, const UsableCores& cores,
                                           const std::vector<int>& home, int servers);

}  // namespace iocomp::placement
