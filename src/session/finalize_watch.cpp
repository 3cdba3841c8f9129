// SPDX-License-Identifier: BSD-3-Clause
#include "session/finalize_watch.h"

#include <mpi.h>

#include <functional>
#include <utility>

#include "base/size_signal.h"
#include "mpi/error.h"

namespace iocomp::session {

// MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF.
FinalizeWatch::FinalizeWatch(std::function<void()> call) : call_{std::move(call)} {
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &key_, nullptr));
  mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key_, this));
}

int FinalizeWatch::finalizing(MPI_Comm /*comm*/, int /*key*/, void* watch, void* /*unused*/) {
  const SizeSignalHeld held;
  if (const auto call = std::exchange(static_cast<FinalizeWatch*>(watch)->call_, {})) {
    call();
  }
  return MPI_SUCCESS;
}

FinalizeWatch::~FinalizeWatch() {
  call_ = {};
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over == 0) {
    MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    MPI_Comm_free_keyval(&key_);
  }
}

}  // namespace iocomp::session
