// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

#include "common/part.h"
#include "common/session.h"
#include "common/step_file.h"
#include "hpcg/cg.h"
#include "hpcg/grid.h"

namespace iocomp::apps::hpcg {

/// The points of a rank in the grid of all.
[[nodiscard]] BoxPart part_of(const Grid& grid);
/// The values of a rank in a row of all values, by rank. Collective over `comm`.
[[nodiscard]] BoxPart part_of(MPI_Comm comm, std::size_t values);

/// The position of a run, without x, r and p.
struct Position {
  std::int64_t set = 0;
  Cg::Scalars scalars{};
  std::vector<double> residuals{};  ///< relative, after each iteration of the set
};

/// The checkpoints of a run: x, r, p and the scalars, so that it goes on with the same bits.
class Checkpoints {
 public:
  /// Collective over the compute ranks. @param after  the checkpoint that the run goes on behind;
  /// -1: none. @param iterations  of a set.
  Checkpoints(const Session& session, const Grid& grid, int iterations, std::int64_t after,
              IoTimers& timers);

  /// Put all. x, r and p must not change before take_back() has returned. Collective over the
  /// compute ranks where there are no servers.
  void write(const Position& position, std::span<const double> x, std::span<const double> r,
             std::span<const double> p);
  /// Sleep until they may change; at once if nothing was put.
  void take_back() { file_.take_back(); }
  void close() { file_.close(); }
  [[nodiscard]] std::int64_t written() const noexcept { return file_.steps(); }

  struct Found {
    std::int64_t number;  ///< of the checkpoint
    Position position;
  };
  /// The newest checkpoint, if there is one. Collective over the compute ranks.
  /// @throws Mistake for one of another problem.
  static std::optional<Found> restore(const Session& session, const Grid& grid, int iterations,
                                      std::span<double> x, std::span<double> r,
                                      std::span<double> p);

 private:
  BoxPart part_;
  int iterations_;
  StepFile file_;
};

}  // namespace iocomp::apps::hpcg
