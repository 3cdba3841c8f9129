// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/panel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {
Panel::Panel(const Layout& layout, MPI_Comm comm)
    : layout_{layout},
      comm_{comm},
      exchange_{layout.rows, comm},
      elimination_{layout.rows, comm},
      leading_{std::max<std::int64_t>(1, layout.rows.count())},
      candidates_(static_cast<std::size_t>(layout.rows.places())) {}

void Panel::factor(double* matrix, std::int64_t column, std::span<std::int64_t> pivots) {
  matrix_ = matrix;
  column_ = column;
  pivots_ = pivots;
  factor_range({0, static_cast<std::int64_t>(pivots.size())});
}

void Panel::factor_range(const Range& range) {
  if (range.count <= most_single) return factor_columns(range);
  const Range left{range.begin, range.count / 2};
  const Range right{left.begin + left.count, range.count - left.count};
  factor_range(left);
  exchange(left, right);
  update(left, right);
  factor_range(right);
  exchange(right, left);
}

void Panel::factor_columns(const Range& range) {
  const auto leading = static_cast<int>(leading_);
  for (std::int64_t place = range.begin; place < range.begin + range.count; ++place) {
    const Candidate pivot = exchange_pivot(place, range);
    const double* const row = pivot.values.data() + (place - range.begin);
    const int below = rows_from(place + 1);
    if (below == 0) continue;
    double* const column = at(place + 1, place);
    const double inverse = 1 / row[0];
    dscal_(&below, &inverse, column, &one);
    const auto others = static_cast<int>(range.begin + range.count - place - 1);
    if (others == 0) continue;
    dger_(&below, &others, &minus_one, column, &one, row + 1, &one, column + leading_, &leading);
  }
}

Panel::Candidate Panel::exchange_pivot(std::int64_t place, const Range& range) {
  const auto columns = static_cast<std::size_t>(range.count);
  const auto copy_row = [&](const double* from, std::array<double, most_single>& to) {
    for (std::size_t i = 0; i < columns; ++i) to[i] = from[static_cast<std::int64_t>(i) * leading_];
  };
  const auto store_row = [&](const std::array<double, most_single>& from, double* to) {
    for (std::size_t i = 0; i < columns; ++i) to[static_cast<std::int64_t>(i) * leading_] = from[i];
  };
  const std::int64_t diagonal = column_ + place;
  double* const first = at(place, range.begin);
  Candidate own;
  std::int64_t own_place = 0;
  if (const int rows = rows_from(place); rows > 0) {
    own_place = idamax_(&rows, at(place, place), &one) - 1;
    own.magnitude = std::abs(at(place, place)[own_place]);
    own.row = layout_.rows.global(layout_.rows.below(diagonal) + own_place);
    copy_row(first + own_place, own.values);
    if (has_diagonal()) copy_row(first, own.diagonal);
  }
  Candidate chosen = own;
  if (!is_alone()) {
    MPI_Allgather(&own, sizeof own, MPI_BYTE, candidates_.data(), sizeof own, MPI_BYTE, comm_);
    chosen = *std::max_element(
        candidates_.begin(), candidates_.end(),
        [](const Candidate& a, const Candidate& b) { return a.magnitude < b.magnitude; });
    const auto owner = static_cast<std::size_t>(layout_.rows.owner(diagonal));
    chosen.diagonal = candidates_[owner].diagonal;
  }
  if (chosen.magnitude == 0) {
    throw std::runtime_error("the matrix is singular: column " + std::to_string(diagonal) +
                             " has no pivot");
  }
  pivots_[static_cast<std::size_t>(place)] = chosen.row;
  if (layout_.rows.owner(chosen.row) == layout_.rows.place()) {
    store_row(chosen.diagonal, first + own_place);
  }
  if (has_diagonal()) store_row(chosen.values, first);
  return chosen;
}

void Panel::update(const Range& left, const Range& right) {
  elimination_.apply({column_ + left.begin, left.count, at(left.begin, left.begin), leading_},
                     matrix_ + (layout_.columns.local(column_) + right.begin) * leading_,
                     right.count);
}

void Panel::exchange(const Range& pivots, const Range& columns) {
  exchange_.plan(column_ + pivots.begin, pivots_.subspan(static_cast<std::size_t>(pivots.begin),
                                                         static_cast<std::size_t>(pivots.count)));
  exchange_.apply(matrix_ + (layout_.columns.local(column_) + columns.begin) * leading_,
                  columns.count);
}

}  // namespace iocomp::apps::hpl
