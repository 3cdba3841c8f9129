#pragma once

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>

namespace iocomp::mpi {

/// How this process waits. Set once per session.
struct WaitPolicy {
  double deadline_seconds = 600;      ///< without any progress; 0 for none
  std::function<void()> meanwhile{};  ///< between two looks: what others may be waiting for
};

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

/// Measures how long owed work has not moved, and gives up at the deadline.
class Deadline {
 public:
  explicit Deadline(const WaitPolicy& policy);
  /// Something moved: start counting again.
  void moved();
  /// @throws Error{timed_out} "waited 600 s without progress for WHAT"; `what` is asked only then.
  void check(const std::function<std::string()>& what) const;

 private:
  double limit_seconds_;
  double last_move_;
};

/// Complete a request with MPI_Test and naps, never in a blocking call.
/// @throws Error{timed_out} naming `what`.
void wait(MPI_Request& request, const WaitPolicy& policy, const char* what);

}  // namespace iocomp::mpi
