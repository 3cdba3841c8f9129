// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>

namespace iocomp::session {

/// Calls back when the program calls MPI_Finalize while this lives. MPI can still be used then.
class FinalizeWatch {
 public:
  explicit FinalizeWatch(std::function<void()> call);
  FinalizeWatch(const FinalizeWatch&) = delete;
  FinalizeWatch& operator=(const FinalizeWatch&) = delete;
  ~FinalizeWatch();

 private:
  static int finalizing(MPI_Comm comm, int key, void* watch, void* unused);

  std::function<void()> call_;
  int key_ = MPI_KEYVAL_INVALID;
};

}  // namespace iocomp::session
