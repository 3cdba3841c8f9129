// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "common/io_timers.h"
#include "common/put_array.h"
#include "common/step_file.h"
#include "hpcg/cg.h"
#include "hpcg/checkpoints.h"
#include "hpcg/counts.h"
#include "hpcg/multigrid.h"
#include "hpcg/options.h"

namespace iocomp::apps::hpcg {

/// The results on one rank.
struct Measurement {
  IoTimers io{};
  double loop_seconds = 0;          ///< all sets, from a barrier until the last wait has returned
  double compute_seconds = 0;       ///< of it, outside iocomp
  double until_durable = 0;         ///< from before the files are opened until they are closed
  std::vector<double> residuals{};  ///< of the last set, after each iteration
  std::vector<double> final_residuals{};  ///< of each set that ended here
  double first_norm = 0;                  ///< of the residual before the first iteration
  std::int64_t restarted_at = -1;         ///< iterations that were done before; -1: no restart
  std::int64_t iterations = 0;            ///< done here
  std::int64_t starts = 0;                ///< sets begun here
  std::int64_t checkpoints = 0;
  std::size_t bytes = 0;    ///< of the output of sets, all ranks together
  bool is_stopped = false;  ///< before the last set ended
};

/// The loop over the sets, with its output.
class Benchmark {
 public:
  /// @param session  null: no output. Collective over `comm`, as run() is.
  Benchmark(const Options& options, const Session* session, MPI_Comm comm, Multigrid& multigrid);

  Measurement run();
  [[nodiscard]] const CgTimers& timers() const noexcept { return cg_.timers(); }
  /// Read back what was put. @throws std::runtime_error when it differs.
  void verify() {
    if (output_) output_->verify();
  }

 private:
  void open_files();
  void run_set();
  void begin_set();
  bool iterate();
  void write_checkpoint();
  void close_files();
  [[nodiscard]] std::span<double> x() const noexcept { return x_[current_].values(); }
  [[nodiscard]] std::int64_t iterations_in_all() const noexcept;

  const Options& options_;
  const Session* session_;
  MPI_Comm comm_;
  Multigrid& multigrid_;
  Cg cg_;
  std::vector<double> b_;
  std::array<PutArray, 2> x_;  ///< the one that is put may not change while the other is computed
  std::size_t current_ = 0;
  Position position_{};
  std::optional<BoxPart> part_{};
  std::optional<StepFile> output_{};
  std::optional<Checkpoints> checkpoints_{};
  std::function<void()> before_change_{};
  Measurement measurement_{};
};

}  // namespace iocomp::apps::hpcg
