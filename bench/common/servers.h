// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <vector>

#include "common/process.h"

namespace iocomp::bench {

/// The server processes of a job on one machine. Servers do not return from iocomp_init, so the
/// compute ranks watch them, and hold them where they stand, from outside.
class Servers {
 public:
  /// Remember the process of every rank. Collective over MPI_COMM_WORLD; before iocomp_init.
  Servers();
  /// Finds the servers: all ranks that are not in `compute`. Local.
  void find(MPI_Comm compute);

  [[nodiscard]] std::size_t count() const noexcept { return servers_.size(); }
  /// Sums over the servers.
  [[nodiscard]] ProcessAccount account() const;

  /// Stop the servers (SIGSTOP), as if they were not there; returns when they stand.
  void hold() const;
  /// Let them go on; returns when they have had time to fall asleep again.
  void release() const;

 private:
  std::vector<pid_t> processes_;  ///< by rank in MPI_COMM_WORLD
  std::vector<pid_t> servers_;
};

}  // namespace iocomp::bench
