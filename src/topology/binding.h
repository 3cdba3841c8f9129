// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

struct hwloc_topology;

namespace iocomp::topology {

/// The CPUs, as the operating system numbers them, on which it lets the calling thread run,
/// ascending; empty where it does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Binds threads of this process to CPUs.
class ThreadBinder {
 public:
  /// @throws Error{unsupported} when hwloc cannot start.
  ThreadBinder();

  /// Let the calling thread run on these CPUs alone. Any thread may call it.
  /// @param cpus  ascending.
  /// @throws Error{unsupported} when it may then run elsewhere: what the system says counts.
  void bind_this_thread(const std::vector<int>& cpus) const;

 private:
  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)> topology_;
};

}  // namespace iocomp::topology
