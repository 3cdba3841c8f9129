// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/vectors.h"

#include <array>
#include <cstddef>

namespace iocomp::apps::hpcg {

double dot(std::span<const double> x, std::span<const double> y) {
  constexpr std::size_t lanes = 16;  // one sum would wait for itself, and could not be a vector
  std::array<double, lanes> sums{};
  const std::size_t whole = x.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += x[i + lane] * y[i + lane];
  }
  double total = 0;
  for (std::size_t i = whole; i < x.size(); ++i) total += x[i] * y[i];
  for (const double sum : sums) total += sum;
  return total;
}

void add_scaled(double alpha, std::span<const double> x, double beta, std::span<double> y) {
  const double* const from = x.data();
  double* const to = y.data();
  const std::size_t count = y.size();
  for (std::size_t i = 0; i < count; ++i) to[i] = alpha * from[i] + beta * to[i];
}

}  // namespace iocomp::apps::hpcg
