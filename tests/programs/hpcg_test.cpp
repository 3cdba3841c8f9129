// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "hpcg/block_operator.h"
#include "hpcg/counts.h"
#include "hpcg/csr_operator.h"
#include "hpcg/grid.h"
#include "hpcg/halo.h"
#include "hpcg/matrix.h"
#include "hpcg/vectors.h"

namespace iocomp::apps::hpcg {
namespace {

/// Both formats of the rows of one rank among 3 x 3 x 3, and vectors of numbers without a pattern.
class Formats : public testing::TestWithParam<std::tuple<Extents, int>> {
 protected:
  static std::vector<double> numbers(std::size_t count, unsigned seed) {
    std::mt19937 generator{seed};
    std::uniform_real_distribution<double> between{-1.0, 1.0};
    std::vector<double> made(count + vector_padding);
    for (std::size_t i = 0; i < count; ++i) made[i] = between(generator);
    return made;
  }
  /// Values that tell every entry from every other, and rows that can be solved.
  void change_values() {
    std::mt19937 generator{7};
    std::uniform_real_distribution<double> between{-1.0, -0.5};
    for (double& value : matrix_.values()) value = between(generator);
    for (const std::int64_t entry : matrix_.diagonal()) {
      matrix_.values()[static_cast<std::size_t>(entry)] -= 26.0;
    }
  }
  void expect_same(const std::vector<double>& found, const std::vector<double>& expected) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid_.rows()); ++i) {
      ASSERT_NEAR(found[i], expected[i], 1e-12) << "row " << i;
    }
  }

  Grid grid_{std::get<0>(GetParam()), {3, 3, 3}, std::get<1>(GetParam())};
  Halo halo_{grid_, MPI_COMM_NULL};  // nothing is exchanged
  Matrix matrix_{grid_, halo_, nullptr};
  std::size_t columns_ = static_cast<std::size_t>(halo_.columns());
  std::vector<double> x_ = numbers(columns_, 1);
  std::vector<double> r_ = numbers(static_cast<std::size_t>(grid_.rows()), 2);
};

TEST_P(Formats, MultiplyAlike) {
  change_values();
  const CsrOperator rows{matrix_};
  const BlockOperator blocks{matrix_, grid_.local()[0]};
  std::vector<double> expected(x_.size());
  std::vector<double> found(x_.size());
  rows.multiply(x_, expected);
  blocks.multiply(x_, found);
  expect_same(found, expected);
}

TEST_P(Formats, SmoothAlike) {
  change_values();
  const CsrOperator rows{matrix_};
  const BlockOperator blocks{matrix_, grid_.local()[0]};
  std::vector<double> expected = x_;
  std::vector<double> found = x_;
  rows.smooth(r_, expected);
  blocks.smooth(r_, found);
  expect_same(found, expected);
}

TEST_P(Formats, SmoothZeroAlike) {
  change_values();
  const CsrOperator rows{matrix_};
  const BlockOperator blocks{matrix_, grid_.local()[0]};
  std::vector<double> expected(x_.size());
  std::vector<double> found(x_.size());
  rows.smooth_zero(r_, expected);
  blocks.smooth_zero(r_, found);
  expect_same(found, expected);
}

TEST_P(Formats, FindTheSameResidualsWhereTheyAreAsked) {
  change_values();
  const CsrOperator rows{matrix_};
  const BlockOperator blocks{matrix_, grid_.local()[0]};
  std::vector<std::int32_t> asked;
  for (std::int32_t row = 0; row < grid_.rows(); row += 3) asked.push_back(row);
  std::vector<double> expected(asked.size());
  std::vector<double> found(asked.size());
  rows.residual_at(asked, r_, x_, expected);
  blocks.residual_at(asked, r_, x_, found);
  for (std::size_t i = 0; i < asked.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST_P(Formats, TakeAnotherDiagonal) {
  CsrOperator rows{matrix_};
  BlockOperator blocks{matrix_, grid_.local()[0]};
  std::vector<double> diagonal;
  for (std::int64_t row = 0; row < grid_.rows(); ++row)
    diagonal.push_back(30.0 + 0.5 * static_cast<double>(row));
  rows.set_diagonal(diagonal);
  blocks.set_diagonal(diagonal);
  std::vector<double> expected(x_.size());
  std::vector<double> found(x_.size());
  rows.multiply(x_, expected);
  blocks.multiply(x_, found);
  expect_same(found, expected);
  rows.smooth(r_, expected);
  blocks.smooth(r_, found);
  expect_same(found, expected);
}

// Corners, an edge, a face and the middle; lines shorter than a block, as long, longer, in parts.
INSTANTIATE_TEST_SUITE_P(PlacesAndSizes, Formats,
                         testing::Combine(testing::Values(Extents{2, 2, 2}, Extents{4, 2, 6},
                                                          Extents{8, 8, 8}, Extents{13, 5, 3},
                                                          Extents{16, 4, 2}, Extents{26, 4, 4}),
                                          testing::Values(0, 1, 4, 13, 26)));

TEST(Matrix, HasTheEntriesOfTheWholeStencil) {
  std::int64_t entries = 0;
  for (int rank = 0; rank < 12; ++rank) {
    const Grid grid{{4, 6, 2}, {2, 2, 3}, rank};
    const Halo halo{grid, MPI_COMM_NULL};
    const Matrix matrix{grid, halo, nullptr};
    entries += matrix.begin().back();
    double sum = 0;
    for (const double value : matrix.values()) sum += value;
    double right = 0;
    for (const double value : matrix.right_hand_side()) right += value;
    EXPECT_EQ(sum, right);  // its solution is 1 everywhere
  }
  EXPECT_EQ(entries, Grid({4, 6, 2}, {2, 2, 3}, 0).global_nonzeros());
  EXPECT_EQ(entries, (3 * 8 - 2) * (3 * 12 - 2) * (3 * 6 - 2));
}

// By the formulas of ReportResults.cpp of HPCG 3.1, for 16^3 on one rank and 10 sets of 50.
TEST(Counts, AreThoseOfHpcg) {
  const Work work{{4096, 512, 64, 8}, {97336, 10648, 1000, 64}, 500, 10};
  EXPECT_EQ(operations(work).total(), 669070560.0);
  EXPECT_EQ(operations(work).multigrid, 545048000.0);
  EXPECT_EQ(traffic_bytes(work).total(), 5093506160.0);
  EXPECT_EQ(traffic_bytes(work).multigrid, 4216976000.0);
}

TEST(Vectors, SumAllElementsOfAnyLength) {
  for (std::size_t length : {0U, 1U, 15U, 16U, 17U, 100U}) {
    const std::vector<double> twos(length, 2.0);
    const std::vector<double> threes(length, 3.0);
    EXPECT_EQ(dot(twos, threes), 6.0 * static_cast<double>(length));
  }
}

TEST(Vectors, AddScaled) {
  const std::vector<double> x{1, 2, 3};
  std::vector<double> y{10, 20, 30};
  add_scaled(2, x, 0.5, y);
  EXPECT_EQ(y, (std::vector<double>{7, 14, 21}));
}

}  // namespace
}  // namespace iocomp::apps::hpcg
