// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "trace/counters.h"

namespace iocomp::trace {

/// The counts of a whole session.
struct Summary {
  int compute_ranks = 0;
  int servers = 0;                   ///< 0 in synchronous mode
  double seconds = 0;                ///< from the begin of the session until now
  std::string transport;             ///< "message, receivers pull", "direct", ...
  Counters compute_sum;              ///< over compute ranks
  Counters compute_max;              ///< of the slowest compute rank, counter by counter
  Counters server_sum;               ///< over servers
  std::vector<std::string> choices;  ///< of rank 0: which way variables went, and why
  std::vector<std::string> notes;    ///< what rank 0 has to say: one line each

  /// Seconds that the average server and the average compute rank were busy with files.
  [[nodiscard]] double io_seconds() const;
  /// The part of these that the compute ranks did not wait for: 1 - (slowest rank inside iocomp
  /// calls) / io_seconds, at least 0; 0 in synchronous mode.
  [[nodiscard]] double hidden() const;
};

/// One line: "iocomp: 12.4 GiB in 40 steps, hidden 97 %, clients waited 0.3 s for buffers (should
/// be near zero), staging peak 512 MiB of 1 GiB".
[[nodiscard]] std::string line(const Summary& summary);
/// The same and all counters as JSON.
[[nodiscard]] std::string json(const Summary& summary);

}  // namespace iocomp::trace
