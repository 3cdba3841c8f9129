// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "mpi/wait.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {

/// The figures of this process, and on the first rank of a file those of the others: one line at
/// the end.
class Report {
 public:
  [[nodiscard]] trace::Counters& counters() noexcept { return counters_; }
  /// A call was left to HDF5.
  void left() noexcept { ++left_calls_; }

  /// Give the counts since the last time to the first rank. All ranks meet here. Collective over
  /// `ranks`; with the null communicator this process keeps them.
  void hand_in(MPI_Comm ranks, const mpi::WaitPolicy& policy);

  /// "iocomp: 12.4 GiB of HDF5's writes taken, 3 calls left to HDF5; 0.9 s in these calls, 0.1 s of
  /// it for buffers, per rank": empty where nothing was written.
  [[nodiscard]] std::string line() const;

 private:
  trace::Counters counters_;
  double left_calls_ = 0;
  // Sums over all ranks:
  double bytes_ = 0;
  double calls_ = 0;
  double call_seconds_ = 0;  // per rank, as the next
  double buffer_seconds_ = 0;
};

}  // namespace iocomp::hdf5
