#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::server {

/// One thread for file operations that take long (fsync, manifest, rename), in the order of
/// submission, so that the server's loop keeps receiving meanwhile. Jobs call no MPI and throw
/// Error on failure.
class Worker {
 public:
  using Job = std::function<void()>;

  /// @param completed  called by the thread after each job, when its outcome can be taken.
  explicit Worker(std::function<void()> completed);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  void submit(std::uint64_t id, Job job);
  /// Jobs that ended since the last call, with their outcome.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Outcome>> take_completed();

 private:
  void work(const std::stop_token& stop);

  std::function<void()> tell_;
  std::mutex mutex_;
  std::condition_variable_any submitted_;
  std::deque<std::pair<std::uint64_t, Job>> queue_;  // guarded by mutex_, like the next
  std::vector<std::pair<std::uint64_t, Outcome>> completed_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace iocomp::server
