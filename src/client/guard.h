// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace iocomp::client {

/// Watches whether asynchronous output of a file pays on this rank. As long as the rank computes
/// nearly all the time, nothing happens. It may spend much of several steps waiting, or be kept
/// from its core by others than compute ranks. Then a few steps are written synchronously for
/// comparison, and the faster way stays. Plain logic: times come from the caller, in seconds.
class Guard {
 public:
  static constexpr double suspicious_share =
      0.5;  ///< of a step in which it could compute and did not
  static constexpr double shortest_step = 0.005;  ///< s; in shorter steps differences are of chance
  static constexpr double margin = 0.97;          ///< synchronous ÷ asynchronous, to be worth it
  static constexpr double clear_loss = 1.2;       ///< the same: one step is enough to know
  static constexpr int steps_to_warm_up = 2;
  static constexpr int steps_to_compare = 4;

  /// @param core_share  the largest part of the time in which the rank can compute. It is less than
  /// 1 if compute ranks share hardware threads.
  explicit Guard(double core_share = 1) noexcept : core_share_{core_share} {}

  /// The rank comes to the end of a step.
  /// @param wall  a clock.
  /// @param cpu   CPU time of this thread.
  void step_ended(double wall, double cpu);

  /// True if the end of this step must wait until the rank's blocks are written.
  [[nodiscard]] bool wants_to_wait() const noexcept {
    return phase_ == Phase::comparing || phase_ == Phase::synchronous;
  }
  /// The result of the comparison, once: "steps take 0.120 s asynchronously, ...".
  [[nodiscard]] std::optional<std::string> take_story();

 private:
  enum class Phase { warming, watching, comparing, asynchronous, synchronous };
  void watch(double period, double computing);
  void compare(double period);

  double core_share_;
  Phase phase_ = Phase::warming;
  std::optional<double> last_wall_;
  double last_cpu_ = 0;
  int seen_ = 0;
  std::vector<double> asynchronous_;  // the last periods
  std::vector<double> synchronous_;
  std::optional<std::string> story_;
};

}  // namespace iocomp::client
