// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

namespace iocomp::mpi {

/// The way in which this process waits. Made once per session: copies share what belongs to a call.
struct WaitPolicy {
  explicit WaitPolicy(double deadline) : deadline_seconds{deadline} {}

  /// The program has called: its waits share one deadline. When one of them has given up, the
  /// others of the call end after a moment in which nothing moves. A server calls this whenever
  /// anything has moved.
  void begin_call() const noexcept { *has_given_up = false; }

  double deadline_seconds;  ///< without any progress; 0 for none
  std::shared_ptr<bool> has_given_up = std::make_shared<bool>(false);  ///< a wait of this call
  std::function<void()> meanwhile{};  ///< between two looks: what others may be waiting for
  /// Until when (now_seconds) a limit that the user has set may be why nothing moves; deadlines
  /// begin then. Null: there is no limit.
  std::shared_ptr<const double> held_back_until{};
};

/// The deadline before the settings are known.
constexpr double usual_deadline_seconds = 1800;

}  // namespace iocomp::mpi
