// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "hpl/block_cyclic.h"
#include "hpl/generator.h"
#include "hpl/layout.h"

namespace iocomp::apps::hpl {
namespace {

class Dealt : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(Dealt, EveryPlaceFindsItsIndicesAndNoOthers) {
  const auto [size, block, places] = GetParam();
  std::vector<int> owners;
  for (int index = 0; index < size; ++index) owners.push_back(index / block % places);
  std::int64_t all = 0;
  for (int place = 0; place < places; ++place) {
    const BlockCyclic here{size, block, places, place};
    std::int64_t local = 0;
    for (int index = 0; index < size; ++index) {
      ASSERT_EQ(here.owner(index), owners[static_cast<std::size_t>(index)]);
      ASSERT_EQ(here.below(index), local) << index;
      if (here.owner(index) != place) continue;
      ASSERT_EQ(here.local(index), local);
      ASSERT_EQ(here.global(local), index);
      ++local;
    }
    EXPECT_EQ(here.count(), local);
    all += local;
  }
  EXPECT_EQ(all, size);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Dealt,
                         testing::Combine(testing::Values(1, 7, 24, 25, 100),
                                          testing::Values(1, 4, 8, 25),
                                          testing::Values(1, 2, 3, 5)));

/// The layout of each rank of a grid.
std::vector<Layout> layouts(std::int64_t size, std::int64_t block, int rows, int columns) {
  std::vector<Layout> made;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      made.push_back({{size, block, rows, row}, {size, block, columns, column}});
    }
  }
  return made;
}

TEST(Layout, RanksHaveEveryElementOfTheFileOnce) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 3}, {2, 1}, {2, 3}}) {
    std::set<std::int64_t> seen;
    for (const Layout& layout : layouts(37, 5, rows, columns)) {
      std::int64_t before = -1;
      std::int64_t elements = 0;
      for (const apps::Run& run : runs_of(layout)) {
        EXPECT_GT(run.first, before);
        EXPECT_EQ(run.first / 37, (run.first + run.count - 1) / 37);  // within a column
        before = run.first;
        elements += run.count;
        for (std::int64_t i = 0; i < run.count; ++i) {
          EXPECT_TRUE(seen.insert(run.first + i).second);
        }
      }
      EXPECT_EQ(static_cast<std::size_t>(elements), layout.elements());
    }
    EXPECT_EQ(seen.size(), 37U * 37U);
  }
}

TEST(Layout, TheFirstColumnOfRanksHasEveryElementOfAVector) {
  std::set<std::int64_t> seen;
  for (const Layout& layout : layouts(37, 5, 3, 2)) {
    for (const apps::Run& run : runs_of(vector_layout(layout))) {
      EXPECT_EQ(layout.columns.place(), 0);
      for (std::int64_t i = 0; i < run.count; ++i) EXPECT_TRUE(seen.insert(run.first + i).second);
    }
  }
  EXPECT_EQ(seen.size(), 37U);
}

TEST(Generator, EveryGridMakesTheSameSystem) {
  constexpr std::int64_t size = 37;
  const Generator generator{size, 5, 3};
  std::vector<double> whole(static_cast<std::size_t>(size * size));
  generator.fill(0, whole);
  std::vector<double> right(static_cast<std::size_t>(size));
  generator.fill_right(0, right);
  for (const Layout& layout : layouts(size, 5, 2, 3)) {
    std::vector<double> part(layout.elements());
    generator.fill(layout, part.data());
    for (std::int64_t column = 0; column < layout.columns.count(); ++column) {
      for (std::int64_t row = 0; row < layout.rows.count(); ++row) {
        ASSERT_EQ(part[static_cast<std::size_t>(column * layout.rows.count() + row)],
                  whole[static_cast<std::size_t>(layout.columns.global(column) * size +
                                                 layout.rows.global(row))]);
      }
    }
    std::vector<double> own(static_cast<std::size_t>(layout.rows.count()));
    generator.fill_right(layout, own.data());
    for (std::int64_t row = 0; row < layout.rows.count(); ++row) {
      ASSERT_EQ(own[static_cast<std::size_t>(row)],
                layout.columns.place() != 0
                    ? 0.0
                    : right[static_cast<std::size_t>(layout.rows.global(row))]);
    }
  }
}

TEST(Generator, NumbersAreEvenAndDifferByRepetitionAndSeed) {
  std::vector<double> values(1U << 20U);
  std::set<double> firsts;
  for (const auto& [seed, repetition] : {std::pair{1, 0}, {1, 1}, {2, 0}, {0, 0}}) {
    Generator{1024, static_cast<std::uint64_t>(seed), repetition}.fill(0, values);
    firsts.insert(values[0]);
    double sum = 0;
    double squares = 0;
    double beside = 0;  // products of neighbours in a line and in a column
    std::vector<int> tenths(10);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += values[i];
      squares += values[i] * values[i];
      if (i >= 1024) beside += values[i] * values[i - 1024] + values[i] * values[i - 1];
      ++tenths[static_cast<std::size_t>((values[i] + 0.5) * 10)];
    }
    const auto count = static_cast<double>(values.size());
    EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1.0 / 12 / count));
    EXPECT_NEAR(squares / count, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / count));
    EXPECT_NEAR(beside / count, 0, 5 * std::sqrt(2.0 / 144 / count));
    EXPECT_GE(*std::min_element(values.begin(), values.end()), -0.5);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 0.5);
    for (const int tenth : tenths) EXPECT_NEAR(tenth, count / 10, 5 * std::sqrt(count * 0.09));
  }
  EXPECT_EQ(firsts.size(), 4U);
}

TEST(Generator, GivesAnyElementByItself) {
  const Generator generator{2, 9, 4};
  std::vector<double> together(3);
  generator.fill(7, together);
  for (std::size_t i = 0; i < together.size(); ++i) {
    double alone = 0;
    generator.fill(7 + static_cast<std::int64_t>(i), {&alone, 1});
    EXPECT_EQ(alone, together[i]);
  }
}

}  // namespace
}  // namespace iocomp::apps::hpl
