// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hpl/elimination.h"
#include "hpl/layout.h"
#include "hpl/panel.h"
#include "hpl/panel_broadcast.h"
#include "hpl/process_grid.h"
#include "hpl/row_exchange.h"

namespace iocomp::apps::hpl {

/// P A = L U with partial pivoting, and A x = b by that, of a matrix on a grid of ranks. The
/// factors and pivots are those that ScaLAPACK's pdgetrf finds, but for rounding. A block of
/// columns is factored, and on its way, while the matrix right of it is still brought up to date
/// for the block before ("look-ahead"): so its ranks let no others wait.
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
  /// Factor a block of columns that is up to date, by its owners, and begin to send it.
  void begin_panel(double* matrix, std::int64_t column);
  /// Bring the matrix right of a block up to date, and begin with the next one on the way.
  void finish_panel(double* matrix, std::int64_t column);
  /// Bring columns up to date, by their local places from `begin` to `end`.
  void update(double* matrix, const PanelBroadcast& panel, std::int64_t begin, std::int64_t end);
  /// These take turns: one is used while the next one travels.
  [[nodiscard]] PanelBroadcast& broadcast_of(std::int64_t column) noexcept {
    return broadcasts_[static_cast<std::size_t>(column / layout_.block() % 2)];
  }
  [[nodiscard]] std::span<std::int64_t> pivots_of(std::int64_t column);
  /// The rows of L are exchanged at the end, each block of columns once.
  void exchange_left(double* matrix);

  const ProcessGrid& grid_;
  Layout layout_;
  std::function<void()> between_blocks_;
  Panel panel_;
  std::array<PanelBroadcast, 2> broadcasts_;
  RowExchange exchange_;
  Elimination elimination_;
  std::int64_t leading_;
  std::vector<std::int64_t> pivots_;
};

/// All elements of a vector of which the ranks of the first column of the grid have rows.
/// Collective over `comm`.
[[nodiscard]] std::vector<double> gathered(MPI_Comm comm, const Layout& layout,
                                           const double* values);

}  // namespace iocomp::apps::hpl
