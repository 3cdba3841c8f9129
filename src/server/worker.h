// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp::server {

/// Runs jobs that would hold up a server's loop, in a thread: commits. Jobs end in the order of
/// submission, and the loop fetches their outcomes.
class Worker {
 public:
  using Job = iocomp::Worker::Job;
  /// @param completed  called by the thread after each job.
  explicit Worker(std::function<void()> completed);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  /// Waits for the jobs that were submitted.
  ~Worker() = default;

  void submit(std::uint64_t id, Job job);
  /// Jobs that ended since the last call, with their outcome.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Outcome>> take_completed();

 private:
  std::function<void()> tell_;
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, Outcome>> completed_;  // guarded by mutex_
  iocomp::Worker thread_;                                     // last: it uses everything above
};

}  // namespace iocomp::server
