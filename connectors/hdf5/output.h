// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"
#include "hdf5/layout.h"
#include "hdf5/native.h"
#include "mpi/handle.h"
#include "mpi/wait.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {

/// A file of HDF5 into which this process also writes by itself: one, however often the program has
/// it open. Knows the writes that are on their way, and the first failure.
class Output {
 public:
  /// @param is_new  its name has to be made durable, too. @param counters  outlive this.
  /// @throws Error{storage_failure}.
  Output(const std::string& path, bool is_new, const disk::Options& options,
         trace::Counters& counters);

  /// The ranks that have it open together; without: this process alone.
  void belongs_to(mpi::Communicator ranks) noexcept { ranks_ = std::move(ranks); }
  [[nodiscard]] bool is_shared() const noexcept { return ranks_.raw() != MPI_COMM_NULL; }
  /// Null where it is not shared, or MPI has ended.
  [[nodiscard]] MPI_Comm ranks() const noexcept;
  /// Wait until all ranks are here. Collective over the ranks of the file.
  void meet(const mpi::WaitPolicy& policy, const char* what) const;

  [[nodiscard]] const std::shared_ptr<disk::OutputFile>& file() const noexcept { return file_; }
  [[nodiscard]] const std::string& path() const noexcept { return file_->path(); }
  /// The last part of the path.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Plans that are under way.
  void begin(std::uint64_t plan, std::span<const disk::Write> writes);
  void end(std::uint64_t plan, const Outcome& outcome);
  [[nodiscard]] std::size_t plans_under_way() const noexcept { return plans_.size(); }
  /// True if one of these writes would write where a plan still does.
  [[nodiscard]] bool overlaps(std::span<const disk::Write> writes) const;

  /// Keep an outcome, if it is the first failure.
  void note(const Outcome& outcome);
  /// The first failure: the file is not what the program wrote from then on.
  [[nodiscard]] const Outcome& failure() const noexcept { return failure_; }
  /// Make everything durable that was written, by HDF5 too. A failure is kept.
  void sync();
  /// Count the bytes that were written since the last time, by the way that they went.
  void count_bytes();

  /// The number of times that the program has it open.
  int opened = 0;
  /// Datasets that are opened from now on are left to HDF5.
  bool is_left = false;
  /// The program has mounted it, or another file on it.
  bool is_mounted = false;
  /// A close has told the failure.
  bool is_told_at_close = false;
  Chunks chunks = Chunks::left;
  /// Datasets that were written collectively, the same on all ranks: true for those whose runs are
  /// so short that HDF5 puts them together.
  std::map<native::Token, bool> has_short_runs;

 private:
  Output(const Path& place, const std::string& path, bool is_new, const disk::Options& options,
         trace::Counters& counters);

  std::string name_;
  std::shared_ptr<const OpenFolder> folder_;  // until the name in it is durable
  trace::Counters& counters_;
  std::shared_ptr<disk::OutputFile> file_;
  mpi::Communicator ranks_;
  std::map<std::uint64_t, std::map<std::int64_t, std::int64_t>> plans_;  // begin -> end
  Outcome failure_;
  std::uint64_t counted_direct_ = 0;  // bytes, as the next
  std::uint64_t counted_buffered_ = 0;
};

}  // namespace iocomp::hdf5
