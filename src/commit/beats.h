// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>

#include "base/path.h"

namespace iocomp::commit {

/// How a process shows that it lives where the file system has no locks: it writes a number into a
/// file, again and again.
struct BeatPace {
  std::chrono::milliseconds interval{5'000};
  std::chrono::milliseconds silence{30'000};  ///< of one that counts as dead
};

/// Beats until it is destroyed.
class Beats {
 public:
  /// @param path  of the file, which is there. @param job  stands in its first line.
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

/// Watch such a file, asleep, until it changes or was silent for long enough. @return whether its
/// process lives. A file that is gone has nobody.
[[nodiscard]] bool beats(const Path& path, BeatPace pace);

}  // namespace iocomp::commit
