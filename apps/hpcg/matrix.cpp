// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/matrix.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr double on_diagonal = 26.0;
constexpr double beside_diagonal = -1.0;

/// Call `body` with each point of the box, in the order of rows.
template <typename Body>
void for_each_point(const Extents& first, const Extents& last, const Body& body) {
  for (std::int64_t z = first[2]; z <= last[2]; ++z) {
    for (std::int64_t y = first[1]; y <= last[1]; ++y) {
      for (std::int64_t x = first[0]; x <= last[0]; ++x) body(Extents{x, y, z});
    }
  }
}

/// Call `body` with each point of this rank.
template <typename Body>
void for_each_row(const Grid& grid, const Body& body) {
  const Extents& local = grid.local();
  for_each_point({0, 0, 0}, {local[0] - 1, local[1] - 1, local[2] - 1}, body);
}

/// Call `body` with the column of each neighbour that exists, the point itself too.
template <typename Body>
void for_each_column(const Halo& halo, const Extents& point, const Body& body) {
  for_each_point({point[0] - 1, point[1] - 1, point[2] - 1},
                 {point[0] + 1, point[1] + 1, point[2] + 1}, [&](const Extents& beside) {
                   const std::int64_t column = halo.column(beside);
                   if (column >= 0) body(column);
                 });
}

std::vector<std::int64_t> count_entries(const Grid& grid, const Halo& halo) {
  std::vector<std::int64_t> begin{0};
  begin.reserve(static_cast<std::size_t>(grid.rows()) + 1);
  for_each_row(grid, [&](const Extents& point) {
    std::int64_t end = begin.back();
    for_each_column(halo, point, [&](std::int64_t) { ++end; });
    begin.push_back(end);
  });
  return begin;
}

}  // namespace

Matrix::Matrix(const Grid& grid, const Halo& halo, const Session* session)
    : begin_{count_entries(grid, halo)}, values_{session, static_cast<std::size_t>(begin_.back())} {
  columns_.reserve(values_.size());
  diagonal_.reserve(static_cast<std::size_t>(rows()));
  for_each_row(grid, [&](const Extents& point) {
    const auto row = static_cast<std::int64_t>(diagonal_.size());
    for_each_column(halo, point, [&](std::int64_t column) {
      const std::size_t entry = columns_.size();
      if (column == row) diagonal_.push_back(static_cast<std::int64_t>(entry));
      values_.values()[entry] = column == row ? on_diagonal : beside_diagonal;
      columns_.push_back(static_cast<std::int32_t>(column));
    });
  });
}

std::vector<double> Matrix::right_hand_side() const {
  std::vector<double> sums;
  sums.reserve(static_cast<std::size_t>(rows()));
  for (std::size_t row = 1; row < begin_.size(); ++row) {
    const std::int64_t entries = begin_[row] - begin_[row - 1];
    sums.push_back(on_diagonal + beside_diagonal * static_cast<double>(entries - 1));
  }
  return sums;
}

}  // namespace iocomp::apps::hpcg
