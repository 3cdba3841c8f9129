// SPDX-License-Identifier: BSD-3-Clause
#include "formats/aggregators.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/order.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

// tests/system/test_aggregators.py runs this on several virtual nodes.
namespace iocomp::formats {
namespace {

const mpi::WaitPolicy& policy() {
  static const mpi::WaitPolicy quick{30};
  return quick;
}

bool is_chosen(Order order, int per_node) {
  MPI_Comm raw = MPI_COMM_NULL;
  mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &raw));
  const mpi::Communicator node{raw};
  const int ranks = mpi::size(node);
  const auto positions = serving_positions(order, ranks, std::min(per_node, ranks));
  return std::ranges::count(positions, mpi::rank(node)) > 0;
}

void check_order(Order order, int per_node) {
  const auto world = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  const auto opened = openers(world.raw(), order, per_node, policy(), "the other ranks");
  EXPECT_EQ(mpi::rank(world) == 0, mpi::rank(opened.comm) == 0);
  EXPECT_EQ(opened.aggregates, is_chosen(order, per_node));
  // The first of as many parts as there are aggregators, the first of which may be larger by one.
  const int ranks = mpi::size(world);
  std::vector<int> firsts;
  for (int part = 0; part < opened.aggregators; ++part) {
    firsts.push_back(part * (ranks / opened.aggregators) +
                     std::min(part, ranks % opened.aggregators));
  }
  EXPECT_EQ(opened.aggregates, std::ranges::count(firsts, mpi::rank(opened.comm)) > 0);
}

TEST(Aggregators, AreTheRanksThatWereChosen) {
  for (const int per_node : {1, 2, 3}) {
    check_order(Order::spread, per_node);
    check_order(Order::packed, per_node);
  }
}

TEST(Aggregators, GetEveryRankOnce) {
  for (int ranks = 1; ranks <= 20; ++ranks) {
    for (int aggregators = 1; aggregators <= ranks; ++aggregators) {
      std::vector<int> given;
      for (int i = 0; i < ranks; ++i) {
        const bool aggregates = i < aggregators;
        given.push_back(rank_for(aggregates, aggregates ? i : i - aggregators, aggregators, ranks));
      }
      EXPECT_EQ(given.front(), 0);
      std::ranges::sort(given);
      for (int i = 0; i < ranks; ++i) {
        EXPECT_EQ(given[static_cast<std::size_t>(i)], i) << aggregators << " of " << ranks;
      }
    }
  }
}

// 8 ranks in 3 parts, and 5 in 2.
TEST(Aggregators, AreTheFirstOfTheirParts) {
  const auto first = [](int number, int aggregators, int ranks) {
    return rank_for(true, number, aggregators, ranks);
  };
  EXPECT_EQ(first(1, 3, 8), 3);
  EXPECT_EQ(first(2, 3, 8), 6);
  EXPECT_EQ(first(1, 2, 5), 3);
}

}  // namespace
}  // namespace iocomp::formats
