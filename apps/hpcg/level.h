// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "common/huge_memory.h"
#include "hpcg/halo.h"
#include "hpcg/matrix.h"
#include "hpcg/operator.h"

namespace iocomp::apps::hpcg {

/// One level of the multigrid: its matrix and what is computed with it.
class Level {
 public:
  /// @param session  gives the memory of the matrix; null: the program. Local.
  Level(const Grid& grid, MPI_Comm comm, Format format, const Session* session);

  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  [[nodiscard]] Halo& halo() noexcept { return halo_; }
  [[nodiscard]] Matrix& matrix() noexcept { return matrix_; }
  [[nodiscard]] Operator& rows() noexcept { return *operator_; }
  /// Elements of a vector that the matrix is multiplied with, with what may be read behind it.
  [[nodiscard]] std::size_t vector_elements() const noexcept {
    return static_cast<std::size_t>(halo_.columns() + vector_padding);
  }
  /// y = A x, with x of the neighbours. Collective over this rank and its neighbours.
  void multiply(std::span<double> x, std::span<double> y) {
    halo_.exchange(x);
    operator_->multiply(x, y);
  }

 private:
  Grid grid_;
  Halo halo_;
  Matrix matrix_;
  std::unique_ptr<Operator> operator_;
};

}  // namespace iocomp::apps::hpcg
