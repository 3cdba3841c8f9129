// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/lu.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {
namespace {

/// The number of blocks of columns that are brought up to date between two looks at the messages.
constexpr std::int64_t blocks_at_once = 4;

}  // namespace

Lu::Lu(const ProcessGrid& grid, const Layout& layout, std::function<void()> between_blocks)
    : grid_{grid},
      layout_{layout},
      between_blocks_{std::move(between_blocks)},
      panel_{layout, grid.column_comm()},
      broadcasts_{{{layout, grid.row_comm()}, {layout, grid.row_comm()}}},
      exchange_{layout.rows, grid.column_comm()},
      elimination_{layout.rows, grid.column_comm()},
      leading_{std::max<std::int64_t>(1, layout.rows.count())},
      pivots_(static_cast<std::size_t>(layout.size())) {}

void Lu::factor(double* matrix) {
  begin_panel(matrix, 0);
  for (std::int64_t column = 0; column < layout_.size(); column += layout_.block()) {
    if (between_blocks_) between_blocks_();
    finish_panel(matrix, column);
  }
  exchange_left(matrix);
}

std::span<std::int64_t> Lu::pivots_of(std::int64_t column) {
  const std::int64_t count = std::min(layout_.block(), layout_.size() - column);
  return std::span{pivots_}.subspan(static_cast<std::size_t>(column),
                                    static_cast<std::size_t>(count));
}

void Lu::begin_panel(double* matrix, std::int64_t column) {
  const std::span<std::int64_t> pivots = pivots_of(column);
  if (layout_.columns.owner(column) == layout_.columns.place()) {
    panel_.factor(matrix, column, pivots);
  }
  broadcast_of(column).start(matrix, column, pivots);
}

void Lu::finish_panel(double* matrix, std::int64_t column) {
  PanelBroadcast& panel = broadcast_of(column);
  panel.wait();
  exchange_.plan(column, pivots_of(column));
  const std::int64_t next = column + panel.factored().count;
  if (next == layout_.size()) return;
  const BlockCyclic& columns = layout_.columns;
  std::int64_t begin = columns.below(next);
  if (columns.owner(next) == columns.place()) {
    const std::int64_t end = columns.below(next + std::ssize(pivots_of(next)));
    update(matrix, panel, begin, end);
    begin = end;
  }
  begin_panel(matrix, next);
  const std::int64_t at_once = blocks_at_once * layout_.block();
  for (; begin < columns.count(); begin += at_once) {
    update(matrix, panel, begin, std::min(begin + at_once, columns.count()));
    broadcast_of(next).progress();
  }
}

void Lu::update(double* matrix, const PanelBroadcast& panel, std::int64_t begin, std::int64_t end) {
  double* const first = matrix + begin * leading_;
  exchange_.apply(first, end - begin);
  elimination_.apply(panel.factored(), first, end - begin);
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
