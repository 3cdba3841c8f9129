// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "base/path.h"

namespace iocomp::commit {

/// The pace at which a process shows that it lives, if the file system has no locks. It writes a
/// number into a file, again and again.
struct BeatPace {
  std::chrono::milliseconds interval{5'000};
  /// A process that is silent for so long counts as dead.
  std::chrono::milliseconds silence{30'000};
};

/// Writes the number until it is destroyed.
class Beats {
 public:
  /// @param path  of an existing file. @param job  written into its first line.
  Beats(Path path, std::string job, BeatPace pace);
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;
  ~Beats() = default;

 private:
  void write(long number) const;
  void beat(const std::stop_token& stop) const;

  Path path_;
  std::string job_;
  BeatPace pace_;
  std::jthread thread_;  // last: it uses everything above
};

/// Watch such a file, asleep, until it changes or has been silent for long enough. @return true if
/// its process lives; false also if the file is gone.
[[nodiscard]] bool beats(const Path& path, BeatPace pace);

}  // namespace iocomp::commit
