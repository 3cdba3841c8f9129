// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp {

/// Runs jobs on threads of its own, which sleep when there are none. Jobs begin in the order in
/// which they come; with one thread they end in that order too. What was not begun when it ends is
/// left.
class Worker {
 public:
  using Job = std::function<void()>;
  /// Called by the thread that ran the job.
  using Ended = std::function<void(const Outcome&)>;

  /// @param name  of the threads, shown by tools that list them: 15 letters at most.
  /// If the system gives fewer threads than asked for, these do the work.
  /// @throws Error{storage_failure} if it gives none.
  explicit Worker(const std::string& name, int threads = 1);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void submit(Job job, Ended ended);

  /// Have a job run by its thread, and sleep until that is done.
  Outcome run(const Job& job);

  /// The outcome of a job, in whichever thread it runs: all that it throws is a failure.
  [[nodiscard]] static Outcome outcome_of_job(const Job& job) noexcept;

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any submitted_;
  std::deque<std::pair<Job, Ended>> queue_;  // guarded by mutex_
  std::vector<std::jthread> threads_;        // last: they use everything above
};

}  // namespace iocomp
