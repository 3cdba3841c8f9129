// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

namespace iocomp::bench {

/// The kernel's account of a process on this machine, all its threads together.
struct ProcessAccount {
  double cpu_seconds = 0;
  double wake_ups = 0;  ///< voluntary context switches: times that it went to sleep
  double resident_bytes = 0;
  double peak_bytes = 0;  ///< VmHWM
};

/// @throws std::runtime_error when there is no such process.
[[nodiscard]] ProcessAccount account_of(pid_t process);

}  // namespace iocomp::bench
