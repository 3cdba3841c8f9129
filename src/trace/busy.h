// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace/counters.h"

namespace iocomp::trace {

/// An activity of a writer. If several go on at once, the time counts for the first of these.
enum class Activity : std::uint8_t { write, sync, commit };

/// Counts the time in which anything is under way, each moment once however much is: so the sum of
/// write_seconds, sync_seconds and commit_seconds is never more than the time that has passed.
class Busy {
 public:
  explicit Busy(Counters& counters) noexcept : counters_{&counters} {}

  /// @param now  in seconds, of a clock that only goes forward.
  void begin(Activity activity, double now) noexcept;
  void end(Activity activity, double now) noexcept;

 private:
  void count_until(double now) noexcept;

  Counters* counters_;
  std::array<std::size_t, 3> underway_{};
  double since_ = 0;
};

}  // namespace iocomp::trace
