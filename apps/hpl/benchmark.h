// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "common/io_timers.h"
#include "common/put_array.h"
#include "common/runs_part.h"
#include "common/step_file.h"
#include "hpl/generator.h"
#include "hpl/lu.h"
#include "hpl/options.h"
#include "hpl/process_grid.h"

namespace iocomp::apps::hpl {

/// The time that each part of the repetitions takes, messages between ranks included.
struct KernelTimers {
  Stopwatch generate;
  Stopwatch factor;
  Stopwatch solve;
  Stopwatch check;
};

/// The checkpoint that was read at a restart, and what was found in it.
struct Restarted {
  std::int64_t repetitions = -1;  ///< done before; -1: no restart
  double residual = 0;            ///< of the solution that was read: the bits are as before
  double solved_residual = 0;     ///< of that by the factors that were read
};

/// The figures of one rank.
struct Measurement {
  IoTimers io{};
  KernelTimers kernels{};
  double loop_seconds = 0;     ///< all repetitions, from a barrier until the last wait has returned
  double compute_seconds = 0;  ///< of it, outside iocomp
  double cpu_seconds = 0;      ///< processor time meanwhile
  double until_durable = 0;    ///< from before the files are opened until they are closed
  std::vector<double> loop_seconds_of_each{};  ///< repetition, its calls of iocomp included
  std::vector<double> hpl_seconds{};           ///< of each: factoring and solving
  std::vector<double> residuals{};             ///< of each
  Restarted restarted{};
  std::int64_t checkpoints = 0;
  std::size_t bytes = 0;    ///< of the output, all ranks together
  bool is_stopped = false;  ///< before the last repetition
};

/// The loop over the repetitions, with its output.
class Benchmark {
 public:
  /// @param session  null: no output. Collective over `comm`, as run() is.
  Benchmark(const Options& options, const Session* session, MPI_Comm comm, const ProcessGrid& grid);

  /// @throws std::runtime_error for a solution that is wrong.
  Measurement run();
  /// Read back what was put. @throws std::runtime_error when it differs.
  void verify() const {
    if (output_) output_->verify();
  }

 private:
  /// Arrays that one repetition computes in, and puts; the next one computes in others.
  struct System {
    System(PutArray& its_matrix, const Session* memory, std::size_t rows)
        : matrix{its_matrix}, solution{memory, rows} {}

    PutArray& matrix;   ///< then the factors
    PutArray solution;  ///< first the right-hand side
  };

  void open_files();
  void restore();
  void solve(std::int64_t repetition);
  [[nodiscard]] double check(std::int64_t repetition, System& system);
  void put(std::int64_t repetition);
  void write_checkpoint(std::int64_t repetition);
  void take_back();
  void close_files();
  [[nodiscard]] System& system_of(std::int64_t repetition) {
    return systems_[static_cast<std::size_t>(repetition) % systems_.size()];
  }
  [[nodiscard]] Generator generator_of(std::int64_t repetition) const {
    return {options_.size, options_.seed, repetition};
  }

  const Options& options_;
  const Session* session_;
  MPI_Comm comm_;
  Layout layout_;
  std::deque<PutArray> matrices_{};
  std::deque<System> systems_{};
  std::unique_ptr<RunsPart> matrix_part_{};
  std::unique_ptr<RunsPart> vector_part_{};
  std::optional<StepFile> output_{};
  std::optional<StepFile> checkpoints_{};
  Measurement measurement_{};
  Lu lu_;
};

}  // namespace iocomp::apps::hpl
