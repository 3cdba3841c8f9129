// SPDX-License-Identifier: BSD-3-Clause
#include "placement/order.h"

#include <gtest/gtest.h>

#include <vector>

namespace iocomp::placement {
namespace {

// Cha, Maeng 2011: 20 ranks on nodes of 8, 8 and 4 with 2 aggregators per node.
TEST(Order, SpreadSkipsRanksAfterEachAggregator) {
  EXPECT_EQ(aggregators(Order::spread, {8, 8, 4}, 2), (std::vector<int>{0, 4, 8, 12, 16, 18}));
}

TEST(Order, PackedTakesTheLowestRanks) {
  EXPECT_EQ(aggregators(Order::packed, {8, 8, 4}, 2), (std::vector<int>{0, 1, 8, 9, 16, 17}));
}

TEST(Order, TailTakesTheHighestRanks) {
  EXPECT_EQ(aggregators(Order::tail, {8, 8, 4}, 2), (std::vector<int>{6, 7, 14, 15, 18, 19}));
}

TEST(Order, TakesWholeNodesThatAreTooSmall) {
  EXPECT_EQ(aggregators(Order::spread, {2, 5}, 3), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Order, SpreadNeverLeavesTheNode) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    for (int servers = 1; servers <= ranks; ++servers) {
      EXPECT_LT(serving_positions(Order::spread, ranks, servers).back(), ranks);
    }
  }
}

}  // namespace
}  // namespace iocomp::placement
