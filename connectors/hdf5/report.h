// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "config/settings.h"
#include "mpi/wait.h"
#include "trace/counters.h"
#include "trace/summary.h"
#include "trace/timeline.h"

namespace iocomp::hdf5 {

/// The figures and the timeline of this process. On the first rank of a file the figures of the
/// others, too: one line at the end, and a file with all of them.
class Report {
 public:
  /// @param settings  outlives this.
  explicit Report(const config::Settings& settings) noexcept : settings_{settings} {}

  [[nodiscard]] trace::Counters& counters() noexcept { return counters_; }
  /// A call was left to HDF5.
  void left() noexcept { ++left_calls_; }

  /// A file is open: the timeline begins, if the settings ask for one and it has not. One that
  /// cannot be written is told once. Collective over `ranks`, null for this process alone.
  void begin_timeline(MPI_Comm ranks, const mpi::WaitPolicy& policy);
  /// Give the counts since the last time to the first rank. All ranks meet here. Collective over
  /// `ranks`; with the null communicator this process keeps them.
  void hand_in(MPI_Comm ranks, const mpi::WaitPolicy& policy);
  /// Nothing more comes: print and write all that the settings ask for.
  void end(const std::string& engine);

 private:
  /// "12.4 GiB of HDF5's writes taken, 3 calls left to HDF5; 0.9 s in these calls, 0.1 s of it for
  /// buffers, on the slowest rank"
  [[nodiscard]] std::string line() const;

  const config::Settings& settings_;
  trace::Counters counters_;
  double left_calls_ = 0;
  double all_left_calls_ = 0;  // of all ranks, as the next
  trace::Summary summary_;
  std::unique_ptr<trace::Timeline> timeline_;
  bool is_told_ = false;  // that there is no timeline
};

}  // namespace iocomp::hdf5
