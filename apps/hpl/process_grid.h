// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>

#include "hpl/layout.h"

namespace iocomp::apps::hpl {

/// Rows and columns of ranks, row by row as HPL has them by default.
struct GridShape {
  int rows = 1;
  int columns = 1;

  [[nodiscard]] int ranks() const noexcept { return rows * columns; }
};

/// As square as so many ranks can lie, no more rows than columns.
[[nodiscard]] GridShape balanced_grid(int ranks);

/// The descriptor that tells ScaLAPACK of a matrix.
using Descriptor = std::array<int, 9>;

/// The ranks of a communicator as a grid, for ScaLAPACK and for messages of our own.
class ProcessGrid {
 public:
  /// Collective over `comm`, which has shape.ranks() ranks.
  ProcessGrid(MPI_Comm comm, const GridShape& shape);
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;
  ~ProcessGrid();

  /// The part of a square matrix that this rank has.
  [[nodiscard]] Layout layout(std::int64_t size, std::int64_t block) const noexcept;
  /// The descriptor of the matrix, or of a vector in its first column.
  [[nodiscard]] Descriptor descriptor(const Layout& layout, bool is_vector) const noexcept;
  /// The ranks of one column of the grid, by row.
  [[nodiscard]] MPI_Comm column_comm() const noexcept { return column_comm_; }
  /// The ranks of one row of the grid, by column.
  [[nodiscard]] MPI_Comm row_comm() const noexcept { return row_comm_; }

 private:
  GridShape shape_;
  int system_handle_;
  int context_;
  int row_ = 0;
  int column_ = 0;
  MPI_Comm row_comm_ = MPI_COMM_NULL;
  MPI_Comm column_comm_ = MPI_COMM_NULL;
};

}  // namespace iocomp::apps::hpl
