// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "hpl/block_cyclic.h"

namespace iocomp::apps::hpl {

/// Exchanges of rows of a matrix, one after the other, done all at once: each row goes where it
/// ends up. Column by column in memory, where one exchange after the other would touch a line of
/// the cache for each element.
class RowExchange {
 public:
  /// @param rows  of the matrix. @param comm  the ranks of a column of the grid, by row.
  RowExchange(const BlockCyclic& rows, MPI_Comm comm);

  /// Say which: row `first` with row pivots[0], then `first` + 1 with pivots[1], and so on. Local.
  void plan(std::int64_t first, std::span<const std::int64_t> pivots);
  /// Exchange in some columns as planned. Collective over `comm`.
  /// @param matrix  the first of these columns; they follow one another.
  void apply(double* matrix, std::int64_t columns);

 private:
  /// Rows that travel between this rank and the others, by rank.
  struct Side {
    std::vector<std::int64_t> rows{};  ///< as this rank calls them
    std::vector<int> first{};          ///< of each rank; and one behind the last
    std::vector<double> values{};      ///< of some columns: rank by rank, column by column
    std::vector<int> counts{};         ///< for MPI_Alltoallv
    std::vector<int> places{};

    void take(const std::vector<std::vector<std::int64_t>>& by_rank);
    void prepare(std::int64_t columns);
  };

  void apply_here(double* matrix, std::int64_t columns);

  BlockCyclic rows_;
  MPI_Comm comm_;
  std::int64_t leading_;
  std::vector<std::int64_t> origin_;  ///< which row comes to each; itself but inside plan()
  std::int64_t busiest_ = 0;          ///< rows that one rank sends, or receives
  Side out_{};
  Side in_{};
};

}  // namespace iocomp::apps::hpl
