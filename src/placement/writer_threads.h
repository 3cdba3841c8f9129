// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "topology/node.h"

namespace iocomp::placement {

/// The part of a node that a writer thread is bound to.
enum class WriterBinding {
  domain,  ///< the free hardware threads of a NUMA domain
  l3,      ///< those of an L3 group in it
  none,    ///< it runs where its process may
};

/// A process of a node that may have writer threads.
struct WritingProcess {
  std::vector<int> cpus;  ///< where the launcher lets it run
  bool computes = false;
};

struct WriterThread {
  int domain = 0;  ///< of the node
  std::vector<int>
      cpus{};  ///< that it is bound to, ascending; empty: it runs where its process may
};

/// The seats of the writer threads of one process of a node, without its own thread. A pure
/// function, which all processes of the node call alike. The process has its own domain and those
/// near it that no other process of its role sits on. Its threads take turns on them, the own
/// domain last, since its own thread is there already.
/// - Hardware threads that a compute rank is bound to are not free, unless `shares`.
/// - Where no domain has free ones, the threads run where the process may.
/// @param self  index in `processes`.
/// @param threads  with that of the process.
[[nodiscard]] std::vector<WriterThread> seat_writer_threads(
    const topology::Node& node, std::span<const WritingProcess> processes, std::size_t self,
    int threads, WriterBinding binding, bool shares);

/// The domains of a process and of its writer threads, by their numbers in the operating system,
/// ascending. A pure function. @param own  domains of the process itself, of the node.
[[nodiscard]] std::vector<int> domains_of_threads(const topology::Node& node,
                                                  std::span<const int> own,
                                                  std::span<const WriterThread> threads);

}  // namespace iocomp::placement
