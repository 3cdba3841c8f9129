// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <thread>

#include "mpi/wait.h"

namespace iocomp::session {

/// The calls of the program, which come one at a time.
class Calls {
 public:
  /// @param policy  of the session: the waits of a call share its deadline.
  explicit Calls(const mpi::WaitPolicy& policy);

  /// Another call begins. Warns, once, if it comes from a thread that must not call MPI.
  void begin();

 private:
  void check_thread();

  mpi::WaitPolicy policy_;
  bool is_checked_ = false;  // MPI allows calls from all threads, or the program was warned
  std::thread::id last_;     // thread that called
};

}  // namespace iocomp::session
