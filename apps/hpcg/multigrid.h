// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "common/huge_memory.h"
#include "hpcg/level.h"

namespace iocomp::apps::hpcg {

/// A V-cycle over four grids, each half as fine as the one before: one symmetric Gauss-Seidel sweep
/// before and after the coarser grids, injection between them.
class Multigrid {
 public:
  static constexpr int levels = 4;
  /// Local sizes are multiples of this, and at least twice as much.
  static constexpr std::int64_t granularity = std::int64_t{1} << (levels - 1);

  /// @param grid     the finest one.
  /// @param session  gives the memory of its matrix; null: the program. Local.
  Multigrid(const Grid& grid, MPI_Comm comm, Format format, const Session* session);

  /// z = M r. Collective over the ranks. @param z  of vector_elements() of the finest level.
  void apply(std::span<const double> r, std::span<double> z) { cycle(0, r, z); }

  [[nodiscard]] Level& finest() noexcept { return stages_.front().level; }
  [[nodiscard]] const Grid& grid() const noexcept { return stages_.front().level.grid(); }
  /// Rows and entries of the whole matrix of each level, the finest first.
  [[nodiscard]] std::vector<std::int64_t> global_rows() const;
  [[nodiscard]] std::vector<std::int64_t> global_nonzeros() const;

 private:
  struct Stage {
    Stage(const Grid& grid, MPI_Comm comm, Format format, const Session* session)
        : level{grid, comm, format, session} {}

    Level level;
    std::vector<std::int32_t> coarse_rows{};  ///< the own rows that are points of the coarser grid
    std::optional<HugeArray> coarse_r{};      ///< right-hand side of the coarser grid ...
    std::optional<HugeArray> coarse_x{};      ///< ... and its solution
  };

  void cycle(std::size_t stage, std::span<const double> r, std::span<double> x);

  std::deque<Stage> stages_{};
};

}  // namespace iocomp::apps::hpcg
