// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "mpi/wait_policy.h"

namespace iocomp::mpi {

/// The pause between two polls: none for the first polls, then naps that are a small part of what
/// was waited, from a few microseconds to a millisecond; where nothing has come for a second, five
/// times that.
class Nap {
 public:
  /// Something arrived: poll eagerly again.
  void reset() noexcept {
    idle_polls_ = 0;
    napped_ = {};
  }

  /// Pause once. `sleep_for` replaces the plain sleep, for a caller that can be woken by something
  /// else.
  void pause(const std::function<void(std::chrono::nanoseconds)>& sleep_for = {});

 private:
  unsigned idle_polls_ = 0;
  std::chrono::nanoseconds napped_{0};  // since something arrived
};

/// Measures how long owed work has not moved while this process ran. Warns long before the
/// deadline, and gives up there.
class Deadline {
 public:
  explicit Deadline(const WaitPolicy& policy);
  /// Something moved: start counting again.
  void moved();
  /// Warns (log) at a tenth of the deadline, and whenever the wait is twice as long as then.
  /// @throws Error{timed_out} "waited 1800 s without progress for WHAT"; `what` is asked only then,
  /// and for warnings.
  void check(const std::function<std::string()>& what);
  /// The time in which nothing has moved.
  [[nodiscard]] double idle_seconds() const;
  /// True if that is a tenth of the deadline.
  [[nodiscard]] bool is_long() const;

 private:
  [[nodiscard]] double beginning() const;

  double limit_seconds_;
  std::shared_ptr<bool> has_given_up_;
  std::shared_ptr<const double> held_back_until_;
  double last_move_;  // as if the process had never been suspended since
  double last_look_;
  double next_warning_seconds_;
};

/// Complete a request with MPI_Test and naps, never in a blocking call.
/// @throws Error{timed_out} naming `what`.
void wait(MPI_Request& request, const WaitPolicy& policy, const char* what);

}  // namespace iocomp::mpi
