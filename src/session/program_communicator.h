// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::session {

/// The communicator that the program uses in the place of its own. It behaves as that one does when
/// an MPI call fails.
class ProgramCommunicator {
 public:
  explicit ProgramCommunicator(MPI_Comm world);
  ~ProgramCommunicator();
  ProgramCommunicator(const ProgramCommunicator&) = delete;
  ProgramCommunicator& operator=(const ProgramCommunicator&) = delete;

  /// Collective over `compute_ranks`.
  void make(const mpi::Communicator& compute_ranks, const mpi::WaitPolicy& policy);
  /// MPI_COMM_NULL before `make`.
  [[nodiscard]] MPI_Comm raw() const noexcept { return comm_.raw(); }

 private:
  mpi::Communicator comm_;
  MPI_Errhandler errors_ = MPI_ERRHANDLER_NULL;
};

}  // namespace iocomp::session
