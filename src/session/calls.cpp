// SPDX-License-Identifier: BSD-3-Clause
#include "session/calls.h"

#include <mpi.h>

#include <string>
#include <thread>

#include "base/log.h"
#include "mpi/wait.h"

namespace iocomp::session {

Calls::Calls(const mpi::WaitPolicy& policy) : policy_{policy} { check_thread(); }

void Calls::begin() {
  policy_.begin_call();
  if (!is_checked_ && std::this_thread::get_id() != last_) {
    check_thread();
  }
}

void Calls::check_thread() {
  last_ = std::this_thread::get_id();
  int level = MPI_THREAD_SINGLE;
  int is_main = 1;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  is_checked_ = level >= MPI_THREAD_SERIALIZED;
  if (!is_checked_ && is_main == 0) {
    is_checked_ = true;
    log::warning(
        "iocomp is called from a thread that did not initialise MPI. MPI allows that if the "
        "program asks for MPI_THREAD_SERIALIZED (MPI_Init_thread); it has " +
        std::string{level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE"});
  }
}

}  // namespace iocomp::session
