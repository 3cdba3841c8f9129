// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>

namespace iocomp::apps {

/// Seconds since an arbitrary moment, from a clock that never jumps.
[[nodiscard]] inline double now_seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// Processor time of this process until now, of all its threads.
[[nodiscard]] inline double cpu_seconds() {
  constexpr double nano = 1e-9;
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + nano * static_cast<double>(time.tv_nsec);
}

/// Adds up the time spent in several calls.
class Stopwatch {
 public:
  /// Run `body` and add its duration. @return what the body returns.
  template <typename Body>
  decltype(auto) time(Body&& body) {
    const Lap lap{*this};
    return body();
  }

  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  [[nodiscard]] double longest_seconds() const noexcept { return longest_seconds_; }
  [[nodiscard]] long laps() const noexcept { return laps_; }

 private:
  class Lap {
   public:
    explicit Lap(Stopwatch& watch) : watch_{watch}, begin_{now_seconds()} {}
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;
    ~Lap() {
      const double seconds = now_seconds() - begin_;
      watch_.seconds_ += seconds;
      watch_.longest_seconds_ =
          seconds > watch_.longest_seconds_ ? seconds : watch_.longest_seconds_;
      ++watch_.laps_;
    }

   private:
    Stopwatch& watch_;
    double begin_;
  };

  double seconds_ = 0;
  double longest_seconds_ = 0;
  long laps_ = 0;
};

}  // namespace iocomp::apps
