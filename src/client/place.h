// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/peers.h"
#include "trace/timeline.h"
#include "transport/shared_memory/node_stripes.h"

namespace iocomp::client {

/// The place of a compute rank in its session.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;  ///< all compute ranks; the library's own
  std::int32_t rank = 0;          ///< in `comm`
  std::string job;                ///< "<host>-<pid>", the same on all ranks
  mpi::Peers servers;             ///< session ranks by number; empty without servers
  int home = -1;                  ///< number of this rank's server
  std::vector<int> neighbours;    ///< compute ranks with the same server, ascending; this one too
  std::size_t chunk_bytes = 0;    ///< largest message of data
  /// The part of its hardware threads that other compute ranks leave it.
  double core_share = 1;
  bool has_kernel = false;        ///< asynchronous files are written by the kernel: no servers
  bool threads_call_mpi = false;  ///< beside the program, on all ranks
  std::string start_line;         ///< printed before the first file; empty if nothing is told
  /// Puts short runs of the ranks of this node together; null if each writes its own.
  transport::NodeStripes* stripes = nullptr;
  trace::Timeline* timeline = nullptr;  ///< gets events; null if there is none
};

}  // namespace iocomp::client
