// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "base/clock.h"

namespace iocomp::disk {

/// The rate at which one process may write a file: the `bandwidth` of the file, divided by its
/// writers. Shared by all physical files of the file. Thread-safe.
class Pace {
 public:
  /// A writer that was late may make up for this time at most.
  static constexpr double slack_seconds = 0.05;

  /// @param bytes_per_second  of this process.
  /// @param now  seconds of a clock.
  explicit Pace(double bytes_per_second, std::function<double()> now = now_seconds)
      : bytes_per_second_{bytes_per_second}, now_{std::move(now)} {}

  /// The most to be written at once, in whole pages: what the limit lets through in 1/16 second.
  [[nodiscard]] std::int64_t slice_bytes() const noexcept;
  /// True if the next slice may be written now.
  [[nodiscard]] bool is_ready() const { return seconds_left() <= 0; }
  /// Sleep until then.
  void wait() const;
  /// Takes note of bytes that are written now.
  void wrote(std::int64_t bytes);

 private:
  [[nodiscard]] double seconds_left() const;

  double bytes_per_second_;
  std::function<double()> now_;
  mutable std::mutex mutex_;
  double next_ = 0;  // when the next may be written; guarded by mutex_
};

}  // namespace iocomp::disk
