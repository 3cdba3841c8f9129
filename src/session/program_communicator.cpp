// SPDX-License-Identifier: BSD-3-Clause
#include "session/program_communicator.h"

#include <mpi.h>

#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::session {

ProgramCommunicator::ProgramCommunicator(MPI_Comm world) {
  mpi::check(MPI_Comm_get_errhandler(world, &errors_));
}

ProgramCommunicator::~ProgramCommunicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (errors_ != MPI_ERRHANDLER_NULL && finalized == 0) {
    MPI_Errhandler_free(&errors_);
  }
}

void ProgramCommunicator::make(const mpi::Communicator& compute_ranks,
                               const mpi::WaitPolicy& policy) {
  comm_ = mpi::duplicate(compute_ranks.raw(), policy, "the other ranks in iocomp_init");
  mpi::check(MPI_Comm_set_errhandler(comm_.raw(), errors_));
}

}  // namespace iocomp::session
