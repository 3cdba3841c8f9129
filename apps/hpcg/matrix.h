// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/put_array.h"
#include "hpcg/grid.h"
#include "hpcg/halo.h"

namespace iocomp::apps::hpcg {

/// The rows of one rank in compressed form: of each row its entries one after the other, in the
/// order of their global columns, without padding.
class Matrix {
 public:
  /// The 27-point stencil: 26 on the diagonal, -1 for each neighbour that exists.
  /// @param session  whose iocomp_alloc gives the memory of the values; null: memory of the
  /// program.
  Matrix(const Grid& grid, const Halo& halo, const Session* session);

  [[nodiscard]] std::int64_t rows() const noexcept {
    return static_cast<std::int64_t>(begin_.size()) - 1;
  }
  /// The begin of each row; one more entry is the end of the last one.
  [[nodiscard]] std::span<const std::int64_t> begin() const noexcept { return begin_; }
  [[nodiscard]] std::span<const std::int32_t> columns() const noexcept { return columns_; }
  [[nodiscard]] std::span<double> values() noexcept { return values_.values(); }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_.values(); }
  /// The index of the entry on the diagonal of each row.
  [[nodiscard]] std::span<const std::int64_t> diagonal() const noexcept { return diagonal_; }
  /// The right-hand side whose solution is 1 everywhere.
  [[nodiscard]] std::vector<double> right_hand_side() const;

 private:
  std::vector<std::int64_t> begin_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> diagonal_;
  PutArray values_;
};

}  // namespace iocomp::apps::hpcg
