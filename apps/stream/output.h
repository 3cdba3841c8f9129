#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/session.h"
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

/// The file of STREAM: one variable per kernel, at most one ticket open for each.
class Output {
 public:
  /// Collective over the compute ranks. @param elements  per rank; the variables have elements *
  /// ranks.
  Output(const Session& session, std::int64_t elements);

  void put(Kernel kernel, std::span<const double> values);
  /// Sleep until the array that this kernel wrote may be overwritten again; at once if nothing was
  /// put.
  void wait(Kernel kernel);
  void end_step();
  void progress();
  void close();

  [[nodiscard]] const OutputTimers& timers() const noexcept { return timers_; }

 private:
  const Session& session_;
  std::int64_t start_ = 0;
  std::int64_t count_ = 0;
  iocomp_file* file_ = nullptr;
  std::array<iocomp_var*, kernel_count> variables_{};
  std::array<iocomp_ticket, kernel_count> tickets_{};
  std::array<bool, kernel_count> is_open_{};
  OutputTimers timers_;
};

}  // namespace iocomp::apps::stream
