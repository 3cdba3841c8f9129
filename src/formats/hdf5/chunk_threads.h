// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp::formats::h5 {

/// The threads that compress the chunks of one file. With one there is none: its caller does the
/// work, as it does where the system gives no threads. They sleep when there is nothing to do, and
/// never call MPI or HDF5.
class ChunkThreads {
 public:
  using Job = std::function<void()>;
  explicit ChunkThreads(int threads);
  ChunkThreads(const ChunkThreads&) = delete;
  ChunkThreads& operator=(const ChunkThreads&) = delete;
  /// What was begun is finished first.
  ~ChunkThreads();

  /// Run jobs, in any order and several at once, and wait for them. @return the first failure, in
  /// the order of the jobs.
  [[nodiscard]] Outcome run(const std::vector<Job>& jobs);

  /// Begin a job that goes on beside others. @pre the one before is finished.
  void begin(Job job);
  /// Wait for it. @return what became of it; `ok` where none was begun.
  [[nodiscard]] Outcome finish();

 private:
  struct Batch;
  void submit(const std::vector<Job>& jobs, const std::shared_ptr<Batch>& batch);

  int threads_;
  std::shared_ptr<Batch> beside_;
  std::unique_ptr<Worker> worker_;  // from the first job on
};

}  // namespace iocomp::formats::h5
