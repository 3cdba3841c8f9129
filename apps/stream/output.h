// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include "common/stopwatch.h"
#include "stream/kernels.h"

namespace iocomp::apps::stream {

/// Time of one rank inside iocomp, by what it did there.
struct OutputTimers {
  Stopwatch open;        ///< iocomp_open, iocomp_define
  Stopwatch send;        ///< iocomp_put, iocomp_end_step
  Stopwatch wait;        ///< iocomp_wait
  Stopwatch progress;    ///< iocomp_progress
  Stopwatch close;       ///< iocomp_close
  double last_call = 0;  ///< when the last put, end_step or wait returned

  [[nodiscard]] double inside_seconds() const noexcept {
    return open.seconds() + send.seconds() + wait.seconds() + progress.seconds() + close.seconds();
  }
};

/// The file of STREAM, written in some way: one variable per kernel. What it does inside is timed
/// here, the same for all ways.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  void put(Kernel kernel, std::span<const double> values);
  /// Sleep until the array that this kernel wrote may be overwritten again; at once if nothing was
  /// put.
  void wait(Kernel kernel);
  void end_step();
  void progress();
  /// Return when all is durable.
  void close();
  /// Around every kernel, for ways that want to know.
  virtual void begin_computing() {}
  virtual void end_computing() {}

  [[nodiscard]] const OutputTimers& timers() const noexcept { return timers_; }

 protected:
  Stopwatch& open_timer() noexcept { return timers_.open; }

 private:
  virtual void start_put(Kernel kernel, std::span<const double> values) = 0;
  virtual void finish_put(Kernel kernel) = 0;
  virtual void finish_step() = 0;
  virtual void make_progress() {}
  virtual void make_durable() = 0;

  std::array<bool, kernel_count> is_open_{};
  OutputTimers timers_;
};

}  // namespace iocomp::apps::stream
