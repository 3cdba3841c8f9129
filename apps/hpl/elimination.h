// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "hpl/block_cyclic.h"

namespace iocomp::apps::hpl {

/// Brings columns up to date behind factored ones: solves for their rows of U, by the ranks that
/// have the diagonal, and takes the product of L and these rows from all that is below.
class Elimination {
 public:
  /// @param rows  of the matrix. @param comm  the ranks of a column of the grid, by row.
  Elimination(const BlockCyclic& rows, MPI_Comm comm);

  /// Factored columns, which begin at the diagonal; all within one block.
  struct Factored {
    std::int64_t row;     ///< of the first one's diagonal
    std::int64_t count;   ///< columns
    const double* lower;  ///< their elements, from the first own row at or below `row` on
    std::int64_t leading;
  };

  /// Collective over `comm`.
  /// @param matrix   the first of the columns, from its first own row on. @param columns  so many.
  void apply(const Factored& factored, double* matrix, std::int64_t columns);

 private:
  BlockCyclic rows_;
  MPI_Comm comm_;
  std::int64_t leading_;
  std::vector<double> upper_{};  ///< rows of U, which all get
};

}  // namespace iocomp::apps::hpl
