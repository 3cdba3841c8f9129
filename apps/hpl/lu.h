// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hpl/layout.h"
#include "hpl/panel.h"
#include "hpl/process_grid.h"
#include "hpl/row_exchange.h"

namespace iocomp::apps::hpl {

/// P A = L U with partial pivoting, and A x = b by that, of a matrix on a grid of ranks. The
/// factors and pivots are those that ScaLAPACK's pdgetrf finds, but for rounding.
class Lu {
 public:
  /// @param between_blocks  called before each block of columns; may be empty. Local.
  Lu(const ProcessGrid& grid, const Layout& layout, std::function<void()> between_blocks = {});

  /// Put the factors where the matrix is: U, and below its diagonal L, whose own diagonal is 1.
  /// Collective over the grid, as all that follows. @param matrix  layout.elements() values.
  /// @throws std::runtime_error for a singular matrix.
  void factor(double* matrix);
  /// Solve with factors. @param b  becomes x: the rows of this rank, in the first column of the
  /// grid.
  void solve(const double* factors, double* b);

  /// The row that each was exchanged with, in turn, counted from 0. On every rank.
  [[nodiscard]] const std::vector<std::int64_t>& pivots() const noexcept { return pivots_; }
  void set_pivots(std::vector<std::int64_t> pivots) { pivots_ = std::move(pivots); }

 private:
  /// Factor a block of columns, and tell its pivots to all.
  void factor_panel(double* matrix, std::int64_t column, std::int64_t count);
  /// Bring the matrix right of a block and below it up to date.
  void update(double* matrix, std::int64_t column, std::int64_t count);
  /// The rows of L are exchanged at the end, each block of columns once.
  void exchange_left(double* matrix);

  const ProcessGrid& grid_;
  Layout layout_;
  std::function<void()> between_blocks_;
  Panel panel_;
  RowExchange exchange_;
  std::int64_t leading_;
  std::vector<std::int64_t> pivots_;
};

/// All elements of a vector of which the ranks of the first column of the grid have rows.
/// Collective over `comm`.
[[nodiscard]] std::vector<double> gathered(MPI_Comm comm, const Layout& layout,
                                           const double* values);

}  // namespace iocomp::apps::hpl
