// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/stopwatch.h"

namespace iocomp::apps {

/// Time of one rank inside iocomp, by what it did there: output and checkpoints.
struct IoTimers {
  Stopwatch open;   ///< iocomp_open, iocomp_define, and what a restart reads
  Stopwatch send;   ///< iocomp_begin_step, puts, iocomp_end_step
  Stopwatch wait;   ///< iocomp_wait, iocomp_wait_step
  Stopwatch close;  ///< iocomp_close

  [[nodiscard]] double in_loop_seconds() const noexcept { return send.seconds() + wait.seconds(); }
};

/// "open_seconds", "send_seconds", "wait_seconds", "close_seconds".
[[nodiscard]] nlohmann::json seconds_of(const IoTimers& timers);

}  // namespace iocomp::apps
