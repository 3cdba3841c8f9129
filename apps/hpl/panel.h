// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hpl/elimination.h"
#include "hpl/layout.h"
#include "hpl/row_exchange.h"

namespace iocomp::apps::hpl {

/// Factors one block of columns, by the ranks of the column of the grid that has it. Its left half
/// first, then the right half with that: so nearly all is done by products of matrices, where
/// ScaLAPACK's own takes column after column.
class Panel {
 public:
  /// @param comm  the ranks of a column of the grid, by row.
  Panel(const Layout& layout, MPI_Comm comm);

  /// Factor the block that begins at a column, from its diagonal down. Collective over `comm`.
  /// @param pivots  gets the row that each was exchanged with; its length is that of the block.
  /// @throws std::runtime_error for a column of zeros.
  void factor(double* matrix, std::int64_t column, std::span<std::int64_t> pivots);

 private:
  /// Columns that are taken one after the other; of more, halves are.
  static constexpr std::int64_t most_single = 16;
  /// The best pivot of a column that a rank has.
  struct Candidate {
    double magnitude = -1;  ///< none
    std::int64_t row = 0;
    std::array<double, most_single> values{};    ///< of this row
    std::array<double, most_single> diagonal{};  ///< of the row that it is exchanged with
  };
  /// Columns of the block, which follow one another, by their places in it.
  struct Range {
    std::int64_t begin;
    std::int64_t count;
  };

  void factor_range(const Range& range);
  void factor_columns(const Range& range);
  /// Find the pivot of a column and exchange its row, in some columns. @return that row.
  [[nodiscard]] Candidate exchange_pivot(std::int64_t place, const Range& range);
  void update(const Range& left, const Range& right);
  void exchange(const Range& pivots, const Range& columns);
  /// The own rows from a place on, in a column; and how many they are.
  [[nodiscard]] double* at(std::int64_t row_place, std::int64_t column_place) const noexcept {
    return matrix_ + (layout_.columns.local(column_) + column_place) * leading_ +
           layout_.rows.below(column_ + row_place);
  }
  [[nodiscard]] int rows_from(std::int64_t place) const noexcept {
    return static_cast<int>(layout_.rows.count() - layout_.rows.below(column_ + place));
  }
  [[nodiscard]] bool is_alone() const noexcept { return layout_.rows.places() == 1; }
  /// True if this rank has the rows of the diagonal.
  [[nodiscard]] bool has_diagonal() const noexcept {
    return layout_.rows.owner(column_) == layout_.rows.place();
  }

  Layout layout_;
  MPI_Comm comm_;
  RowExchange exchange_;
  Elimination elimination_;
  std::int64_t leading_;
  double* matrix_ = nullptr;
  std::int64_t column_ = 0;  ///< first of the block
  std::span<std::int64_t> pivots_{};
  std::vector<Candidate> candidates_;
};

}  // namespace iocomp::apps::hpl
