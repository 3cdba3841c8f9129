// SPDX-License-Identifier: BSD-3-Clause
#include "server/actions.h"

#include <mpi.h>

#include <utility>

#include "mpi/error.h"

namespace iocomp::server {

bool Actions::advance() {
  if (queue_.empty()) {
    return false;
  }
  if (gate_ == MPI_REQUEST_NULL) {
    mpi::check(MPI_Ibarrier(servers_, &gate_));
  }
  int met = 0;
  mpi::check(MPI_Test(&gate_, &met, MPI_STATUS_IGNORE));
  if (met == 0) {
    return false;
  }
  const auto [file, note] = std::move(queue_.front());
  queue_.pop_front();
  perform_(file, note);
  return true;
}

}  // namespace iocomp::server
