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

  /// Run jobs, in any order and several at once, and wait for them. @return the first failure, in
  /// the order of the jobs.
  [[nodiscard]] Outcome run(std::vector<Job> jobs) { return crew_->run(std::move(jobs)); }

  /// See Crew::begin; Crew::finish waits for them.
  [[nodiscard]] std::shared_ptr<Crew::Batch> begin(std::vector<Job> jobs) {
    return crew_->begin(std::move(jobs));
  }

 private:
  Crew alone_{{}};
  Crew* crew_;
};

}  // namespace iocomp::formats::h5
