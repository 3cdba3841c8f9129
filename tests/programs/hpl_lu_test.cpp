// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "common/ranks.h"
#include "hpl/generator.h"
#include "hpl/lu.h"
#include "hpl/process_grid.h"
#include "hpl/residual.h"
#include "hpl/scalapack.h"

namespace iocomp::apps::hpl {
namespace {

std::vector<GridShape> grids(int ranks) {
  std::vector<GridShape> all;
  for (int rows = 1; rows <= ranks; ++rows) {
    if (ranks % rows == 0) all.push_back({rows, ranks / rows});
  }
  return all;
}

std::vector<double> solved(const ProcessGrid& grid, const Layout& layout,
                           const Generator& generator, MPI_Comm comm) {
  std::vector<double> matrix(layout.elements());
  std::vector<double> b(static_cast<std::size_t>(std::max<std::int64_t>(1, layout.rows.count())));
  generator.fill(layout, matrix.data());
  generator.fill_right(layout, b.data());
  Lu lu{grid, layout};
  lu.factor(matrix.data());
  lu.solve(matrix.data(), b.data());
  return gathered(comm, layout, b.data());
}

/// Rows of the matrix, and of a block.
class Sizes : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Sizes, FactorsAndPivotsAreThoseOfScalapack) {
  const auto [size, block] = GetParam();
  for (const GridShape& shape : grids(size_of(MPI_COMM_WORLD))) {
    const ProcessGrid grid{MPI_COMM_WORLD, shape};
    const Layout layout = grid.layout(size, block);
    const Generator generator{size, 1, 0};
    std::vector<double> factors(layout.elements());
    generator.fill(layout, factors.data());
    std::vector<double> expected{factors};
    Lu lu{grid, layout};
    lu.factor(factors.data());

    const Descriptor descriptor = grid.descriptor(layout, false);
    std::vector<int> pivots(static_cast<std::size_t>(layout.rows.count() + block));
    int info = -1;
    pdgetrf_(&size, &size, expected.data(), &one, &one, descriptor.data(), pivots.data(), &info);
    ASSERT_EQ(info, 0);
    for (std::int64_t row = 0; row < layout.rows.count(); ++row) {
      ASSERT_EQ(lu.pivots()[static_cast<std::size_t>(layout.rows.global(row))] + 1,
                pivots[static_cast<std::size_t>(row)])
          << shape.rows << " x " << shape.columns << ", row " << layout.rows.global(row);
    }
    for (std::size_t i = 0; i < factors.size(); ++i) {
      ASSERT_NEAR(factors[i], expected[i], 1e-9) << shape.rows << " x " << shape.columns;
    }
  }
}

TEST_P(Sizes, TheSolutionIsRightAndItsResidualTheSameOnAnyRanks) {
  const auto [size, block] = GetParam();
  const Generator generator{size, 2, 1};
  for (const GridShape& shape : grids(size_of(MPI_COMM_WORLD))) {
    const ProcessGrid grid{MPI_COMM_WORLD, shape};
    const Layout layout = grid.layout(size, block);
    std::vector<double> x = solved(grid, layout, generator, MPI_COMM_WORLD);
    const double residual = scaled_residual(MPI_COMM_WORLD, generator, x);
    EXPECT_LT(residual, residual_threshold);
    EXPECT_EQ(residual, scaled_residual(MPI_COMM_SELF, generator, x));
    x[static_cast<std::size_t>(size / 2)] += 1e-6;
    EXPECT_GT(scaled_residual(MPI_COMM_WORLD, generator, x), residual_threshold);
  }
}

// One block; blocks that do not fit; panels of many halves; ranks without rows at the end.
INSTANTIATE_TEST_SUITE_P(OfMatrices, Sizes,
                         testing::Values(std::tuple{1, 4}, std::tuple{16, 16}, std::tuple{97, 8},
                                         std::tuple{130, 33}, std::tuple{200, 64}));

TEST(Lu, NeedsTheRanksOfItsCommunicatorAlone) {
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, -rank, &part);
  if (part == MPI_COMM_NULL) return;  // it does nothing until the others have finished
  const Generator generator{60, 1, 0};
  const ProcessGrid grid{part, balanced_grid(size_of(part))};
  const std::vector<double> x = solved(grid, grid.layout(60, 7), generator, part);
  EXPECT_LT(scaled_residual(part, generator, x), residual_threshold);
  MPI_Comm_free(&part);
}

TEST(Lu, TellsOfASingularMatrix) {
  const ProcessGrid grid{MPI_COMM_SELF, {1, 1}};
  const Layout layout = grid.layout(20, 4);
  std::vector<double> zeros(layout.elements());
  Lu lu{grid, layout};
  EXPECT_THROW(lu.factor(zeros.data()), std::runtime_error);
}

}  // namespace
}  // namespace iocomp::apps::hpl
