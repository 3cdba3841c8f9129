// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/crew.h"
#include "base/error.h"

namespace iocomp::formats::h5 {

/// What compresses the chunks of one file: the threads of this process, or its caller alone. Jobs
/// never call MPI or HDF5.
class ChunkThreads {
 public:
  using Job = Crew::Job;
  /// @param crew  null: the caller alone.
  explicit ChunkThreads(Crew* crew) noexcept : crew_{crew == nullptr ? &alone_ : crew} {}
  ChunkThreads(const ChunkThreads&) = delete;
  ChunkThreads& operator=(const ChunkThreads&) = delete;
  /// What was begun is finished first.
  ~ChunkThreads() { (void)finish(); }

  /// Run jobs, in any order and several at once, and wait for them. @return the first failure, in
  /// the order of the jobs.
  [[nodiscard]] Outcome run(std::vector<Job> jobs) { return crew_->run(std::move(jobs)); }

  /// Begin a job that goes on beside others. @pre the one before is finished.
  void begin(Job job) { beside_ = crew_->begin(std::move(job)); }
  /// Wait for it. @return what became of it; `ok` where none was begun.
  [[nodiscard]] Outcome finish() {
    const auto batch = std::exchange(beside_, nullptr);
    return batch ? Crew::finish(*batch) : Outcome{};
  }

 private:
  Crew alone_{{}};
  Crew* crew_;
  std::shared_ptr<Crew::Batch> beside_;
};

}  // namespace iocomp::formats::h5
