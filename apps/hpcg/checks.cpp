// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/checks.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "common/ranks.h"
#include "hpcg/cg.h"

namespace iocomp::apps::hpcg {
namespace {

constexpr double diagonal_value = 26.0;

/// The factors by which HPCG multiplies the diagonal and the right-hand side: the first nine rows
/// of all have factors of their own.
std::vector<double> exaggeration(const Grid& grid) {
  const Extents start = grid.start();
  const Extents global = grid.global();
  const Extents& local = grid.local();
  std::vector<double> factors;
  for (std::int64_t z = 0; z < local[2]; ++z) {
    for (std::int64_t y = 0; y < local[1]; ++y) {
      for (std::int64_t x = 0; x < local[0]; ++x) {
        const std::int64_t row =
            start[0] + x + global[0] * (start[1] + y + global[1] * (start[2] + z));
        factors.push_back(row < 9 ? static_cast<double>(row + 2) * 1.0e6 : 1.0e6);
      }
    }
  }
  return factors;
}

int iterations_needed(Multigrid& multigrid, MPI_Comm comm, const std::vector<double>& b,
                      bool preconditioned) {
  constexpr int most = 50;
  constexpr double tolerance = 1.0e-12;
  Cg cg{multigrid, comm, preconditioned};
  HugeArray x{multigrid.finest().vector_elements()};
  cg.start(b, x.values());
  while (cg.scalars().iteration < most && cg.relative_residual() > tolerance) cg.iterate();
  return cg.scalars().iteration;
}

double norm(MPI_Comm comm, std::span<const double> x) { return std::sqrt(global_dot(comm, x, x)); }

}  // namespace

Spectral test_spectrum(Multigrid& multigrid, MPI_Comm comm) {
  Level& finest = multigrid.finest();
  const std::vector<double> factors = exaggeration(finest.grid());
  std::vector<double> diagonal(factors.size(), diagonal_value);
  std::vector<double> b = finest.matrix().right_hand_side();
  for (std::size_t row = 0; row < factors.size(); ++row) {
    diagonal[row] *= factors[row];
    b[row] *= factors[row];
  }
  finest.rows().set_diagonal(diagonal);
  const Spectral found{iterations_needed(multigrid, comm, b, false),
                       iterations_needed(multigrid, comm, b, true)};
  finest.rows().set_diagonal(std::vector<double>(factors.size(), diagonal_value));
  return found;
}

Symmetry test_symmetry(Multigrid& multigrid, MPI_Comm comm) {
  Level& finest = multigrid.finest();
  const auto rows = static_cast<std::size_t>(finest.grid().rows());
  HugeArray x{finest.vector_elements()};
  HugeArray y{finest.vector_elements()};
  HugeArray product{finest.vector_elements()};
  std::mt19937_64 generator{static_cast<std::uint64_t>(rank_in(comm))};
  std::uniform_real_distribution<double> between{1.0, 2.0};
  for (double& value : x.values().first(rows)) value = between(generator);
  for (double& value : y.values().first(rows)) value = between(generator);
  const std::span<const double> own_x = x.values().first(rows);
  const std::span<const double> own_y = y.values().first(rows);
  const std::span<const double> own_product = product.values().first(rows);

  const double rounding = 4 * diagonal_value * norm(comm, own_x) * norm(comm, own_y) *
                          std::numeric_limits<double>::epsilon();
  finest.multiply(y.values(), product.values());
  const double x_a_y = global_dot(comm, own_x, own_product);
  finest.multiply(x.values(), product.values());
  const double y_a_x = global_dot(comm, own_y, own_product);
  multigrid.apply(y.values(), product.values());
  const double x_m_y = global_dot(comm, own_x, own_product);
  multigrid.apply(x.values(), product.values());
  const double y_m_x = global_dot(comm, own_y, own_product);
  return {std::abs(x_a_y - y_a_x) / rounding, std::abs(x_m_y - y_m_x) / rounding};
}

}  // namespace iocomp::apps::hpcg
