// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/residual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "common/ranks.h"

namespace iocomp::apps::hpl {
namespace {

constexpr double epsilon = 0x1p-53;

/// A x, and the sums of |A|, of some rows.
struct Rows {
  std::vector<double> product;
  std::vector<double> sum;
};

void add_column(std::span<const double> column, double x, Rows& rows) {
  double* const product = rows.product.data();
  double* const sum = rows.sum.data();
  for (std::size_t i = 0; i < column.size(); ++i) {
    product[i] += column[i] * x;
    sum[i] += std::abs(column[i]);
  }
}

double largest(std::span<const double> values) {
  double found = 0;
  for (const double value : values) found = std::max(found, std::abs(value));
  return found;
}

}  // namespace

double scaled_residual(MPI_Comm comm, const Generator& generator, std::span<const double> x) {
  const auto size = static_cast<std::int64_t>(x.size());
  const std::int64_t begin = size * rank_in(comm) / size_of(comm);
  const std::int64_t end = size * (rank_in(comm) + 1) / size_of(comm);
  const auto count = static_cast<std::size_t>(end - begin);
  Rows rows{std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> column(count);
  for (std::int64_t j = 0; j < size; ++j) {
    generator.fill(j * size + begin, column);
    add_column(column, x[static_cast<std::size_t>(j)], rows);
  }
  std::vector<double>& right = column;
  generator.fill_right(begin, right);
  for (std::size_t i = 0; i < count; ++i) rows.product[i] -= right[i];
  std::array norms{largest(rows.product), largest(rows.sum), largest(right)};
  MPI_Allreduce(MPI_IN_PLACE, norms.data(), static_cast<int>(norms.size()), MPI_DOUBLE, MPI_MAX,
                comm);
  const auto [distance, matrix, right_side] = norms;
  return distance / (epsilon * (matrix * largest(x) + right_side) * static_cast<double>(size));
}

}  // namespace iocomp::apps::hpl
