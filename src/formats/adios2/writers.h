// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include "base/error.h"
#include "mpi/wait.h"

namespace iocomp::formats::bp {

/// The processes that write one dataset together through ADIOS2, which does not survive a failure
/// of one of them: the others stay in a collective call of its own.
class Writers {
 public:
  /// Collective over `comm`, which outlives this.
  Writers(MPI_Comm comm, const mpi::WaitPolicy& wait);

  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  /// The way in which they wait for one another, outside of ADIOS2.
  [[nodiscard]] const mpi::WaitPolicy& wait() const noexcept { return wait_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Carry out a collective call of ADIOS2. Where it fails on some, all throw; where the others do
  /// not come back from it within a minute, or the deadline if that is shorter, the job is aborted,
  /// because they never will.
  /// @throws Error{storage_failure} "cannot ACTION PATH: ADIOS2: ...", the same on all.
  void together(const std::string& action, const std::string& path,
                const std::function<void()>& call) const;

  /// Do what makes the dataset durable from every node but that of the first writer, once all are
  /// here. Collective. @throws Error{storage_failure}, the same on all.
  void on_other_nodes(const std::function<void()>& make_durable) const;

 private:
  void agree(const Outcome& mine, double deadline_seconds) const;

  MPI_Comm comm_;
  mpi::WaitPolicy wait_;
  double patience_seconds_;
  int rank_ = 0;
  int size_ = 1;
  bool has_other_nodes_ = false;
  bool syncs_ = false;  // for its node, which is another than that of the first writer
};

}  // namespace iocomp::formats::bp
