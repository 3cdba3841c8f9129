// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/worker.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "trace/counters.h"

namespace iocomp::client {

/// Carries out what takes long and concerns one file: what its lead has to do on the disk, or what
/// a rank writes together with others. It is done at once, inside the call. If nobody waits for it,
/// it is done in a thread while the rank goes on. Either way jobs end in the order in which they
/// came.
class SideJobs {
 public:
  using Job = commit::Publication::Job;
  using Then = commit::Publisher::Then;

  enum class Of { commits, writers };
  /// @param counters  of the rank; the thread does not touch them. Commits are counted there, and
  /// shown on the timeline; writers do that themselves.
  SideJobs(Of of, trace::Counters& counters, std::string file_name);

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

 private:
  struct Ended {
    Then then;
    Outcome outcome;
    double seconds;
  };
  [[nodiscard]] bool has_thread();
  void submit(Job job, Then then);

  Of of_;
  trace::Counters& counters_;
  std::string file_name_;
  bool goes_beside_ = false;
  int under_way_ = 0;  // in the thread, or ended there and not taken
  std::mutex mutex_;
  std::condition_variable has_ended_;
  std::vector<Ended> ended_;              // guarded by mutex_
  std::optional<iocomp::Worker> thread_;  // last: it uses what is above
};

}  // namespace iocomp::client
