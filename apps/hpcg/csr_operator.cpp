// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/csr_operator.h"

namespace iocomp::apps::hpcg {
namespace {

/// x[row] such that the row holds, with all other elements of x as they are.
inline void solve_row(const Matrix& matrix, std::int64_t row, const double* r, double* x) {
  const std::int64_t* const begin = matrix.begin().data();
  const std::int32_t* const columns = matrix.columns().data();
  const double* const values = matrix.values().data();
  const double diagonal = values[matrix.diagonal()[static_cast<std::size_t>(row)]];
  double sum = r[row];
  for (std::int64_t entry = begin[row]; entry < begin[row + 1]; ++entry) {
    sum -= values[entry] * x[columns[entry]];
  }
  sum += x[row] * diagonal;  // the sum has the row's own element too
  x[row] = sum / diagonal;
}

}  // namespace

CsrOperator::CsrOperator(Matrix& matrix) : matrix_{matrix} {}

void CsrOperator::multiply(std::span<const double> x, std::span<double> y) const {
  const std::int64_t* const begin = matrix_.begin().data();
  const std::int32_t* const columns = matrix_.columns().data();
  const double* const values = matrix_.values().data();
  const double* const from = x.data();
  double* const to = y.data();
  const std::int64_t rows = matrix_.rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::int64_t entry = begin[row]; entry < begin[row + 1]; ++entry) {
      sum += values[entry] * from[columns[entry]];
    }
    to[row] = sum;
  }
}

void CsrOperator::smooth(std::span<const double> r, std::span<double> x) const {
  const std::int64_t rows = matrix_.rows();
  for (std::int64_t row = 0; row < rows; ++row) solve_row(matrix_, row, r.data(), x.data());
  for (std::int64_t row = rows; row-- > 0;) solve_row(matrix_, row, r.data(), x.data());
}

void CsrOperator::residual_at(std::span<const std::int32_t> rows, std::span<const double> r,
                              std::span<const double> x, std::span<double> coarse) const {
  product_.resize(static_cast<std::size_t>(matrix_.rows()));
  multiply(x, product_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    coarse[i] = r[row] - product_[row];
  }
}

void CsrOperator::set_diagonal(std::span<const double> values) {
  for (std::size_t row = 0; row < values.size(); ++row) {
    matrix_.values()[static_cast<std::size_t>(matrix_.diagonal()[row])] = values[row];
  }
}

}  // namespace iocomp::apps::hpcg
