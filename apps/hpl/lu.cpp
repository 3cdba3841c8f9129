// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/lu.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {
Lu::Lu(const ProcessGrid& grid, const Layout& layout, std::function<void()> between_blocks)
    : grid_{grid},
      layout_{layout},
      between_blocks_{std::move(between_blocks)},
      panel_{layout, grid.column_comm()},
      exchange_{layout.rows, grid.column_comm()},
      leading_{std::max<std::int64_t>(1, layout.rows.count())},
      pivots_(static_cast<std::size_t>(layout.size())) {}

void Lu::factor(double* matrix) {
  for (std::int64_t column = 0; column < layout_.size(); column += layout_.block()) {
    if (between_blocks_) between_blocks_();
    const std::int64_t count = std::min(layout_.block(), layout_.size() - column);
    factor_panel(matrix, column, count);
    update(matrix, column, count);
  }
  exchange_left(matrix);
}

void Lu::factor_panel(double* matrix, std::int64_t column, std::int64_t count) {
  const int owner = layout_.columns.owner(column);
  const std::span<std::int64_t> pivots =
      std::span{pivots_}.subspan(static_cast<std::size_t>(column), static_cast<std::size_t>(count));
  if (owner == layout_.columns.place()) panel_.factor(matrix, column, pivots);
  MPI_Bcast(pivots.data(), static_cast<int>(count), MPI_INT64_T, owner, grid_.row_comm());
}

void Lu::update(double* matrix, std::int64_t column, std::int64_t count) {
  const std::int64_t behind = column + count;
  const std::int64_t right = layout_.columns.below(behind);
  exchange_.plan(column, std::span{pivots_}.subspan(static_cast<std::size_t>(column),
                                                    static_cast<std::size_t>(count)));
  exchange_.apply(matrix + right * leading_, layout_.columns.count() - right);
  const Descriptor descriptor = grid_.descriptor(layout_, false);
  const auto rows = static_cast<int>(count);
  const auto rest = static_cast<int>(layout_.size() - behind);
  const auto diagonal = static_cast<int>(column + 1);
  const auto next = static_cast<int>(behind + 1);
  if (rest == 0) return;
  pdtrsm_("L", "L", "N", "U", &rows, &rest, &plus_one, matrix, &diagonal, &diagonal,
          descriptor.data(), matrix, &diagonal, &next, descriptor.data());
  pdgemm_("N", "N", &rest, &rest, &rows, &minus_one, matrix, &next, &diagonal, descriptor.data(),
          matrix, &diagonal, &next, descriptor.data(), &plus_one, matrix, &next, &next,
          descriptor.data());
}

void Lu::exchange_left(double* matrix) {
  const BlockCyclic& columns = layout_.columns;
  for (std::int64_t local = 0; local < columns.count(); local += layout_.block()) {
    const std::int64_t count = std::min(layout_.block(), columns.count() - local);
    const std::int64_t behind = columns.global(local) + count;
    exchange_.plan(behind, std::span{pivots_}.subspan(static_cast<std::size_t>(behind)));
    exchange_.apply(matrix + local * leading_, count);
  }
}

void Lu::solve(const double* factors, double* b) {
  // As pdgetrf leaves them: those of the own rows, counted from 1.
  std::vector<int> pivots(static_cast<std::size_t>(layout_.rows.count() + layout_.block()));
  for (std::int64_t row = 0; row < layout_.rows.count(); ++row) {
    pivots[static_cast<std::size_t>(row)] =
        static_cast<int>(pivots_[static_cast<std::size_t>(layout_.rows.global(row))] + 1);
  }
  const Descriptor matrix = grid_.descriptor(layout_, false);
  const Descriptor vector = grid_.descriptor(layout_, true);
  const auto size = static_cast<int>(layout_.size());
  int info = 0;
  pdgetrs_("N", &size, &one, factors, &one, &one, matrix.data(), pivots.data(), b, &one, &one,
           vector.data(), &info, 1);
  if (info != 0) throw std::runtime_error("pdgetrs says " + std::to_string(info));
}

std::vector<double> gathered(MPI_Comm comm, const Layout& layout, const double* values) {
  std::vector<double> all(static_cast<std::size_t>(layout.size()));
  for_each_piece(vector_layout(layout),
                 [&](std::int64_t at, std::int64_t row, std::int64_t, std::int64_t length) {
                   std::copy_n(values + at, length, all.data() + row);
                 });
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, comm);
  return all;
}

}  // namespace iocomp::apps::hpl
