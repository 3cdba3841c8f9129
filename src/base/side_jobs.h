// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker.h"

namespace iocomp {

/// Carries out what takes long: at once, inside the call, or in a thread while its owner goes on.
/// Either way jobs end in the order in which they came.
class SideJobs {
 public:
  using Job = Worker::Job;
  using Then = std::function<void(const Outcome&)>;

  /// @param thread  its name. @param ended  called by the thread after each job.
  explicit SideJobs(std::string thread, std::function<void()> ended = {})
      : name_{std::move(thread)}, tell_{std::move(ended)} {}

  /// Do a job, and call `then` with its outcome: here, or in `advance`.
  void run(Job job, Then then);
  /// Give jobs to the thread from here on, or not. Without a thread they are done at once.
  void go_beside(bool beside) noexcept { goes_beside_ = beside; }
  /// True if some jobs are under way in the thread, or have ended there since `advance`.
  [[nodiscard]] bool are_any() const noexcept { return under_way_ > 0; }
  /// Go on after jobs of the thread that have ended. @return true if there were any.
  bool advance();
  /// The same for all of its jobs; waits for them.
  void finish();
  /// Wait for all of its jobs. Nothing comes after them.
  void end();

 private:
  using Ended = std::vector<std::pair<Then, Outcome>>;
  [[nodiscard]] bool has_thread();
  [[nodiscard]] Ended take();
  void wait();  // until one has ended

  std::string name_;
  std::function<void()> tell_;
  bool goes_beside_ = false;
  int under_way_ = 0;  // in the thread, or ended there and not taken
  std::mutex mutex_;
  std::condition_variable has_ended_;
  Ended ended_;                   // guarded by mutex_
  std::optional<Worker> thread_;  // last: it uses what is above
};

}  // namespace iocomp
