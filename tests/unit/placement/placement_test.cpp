// SPDX-License-Identifier: BSD-3-Clause
#include "placement/placement.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"

namespace iocomp::placement {
namespace {

std::vector<int> nodes_of(const std::vector<int>& sizes) {
  std::vector<int> node_of_rank;
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(sizes[node]),
                        static_cast<int>(node));
  }
  return node_of_rank;
}

std::vector<int> range(int first, int last) {
  std::vector<int> values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return values;
}

int server_of(const Placement& placement, int rank) {
  for (std::size_t i = 0; i < placement.compute.size(); ++i) {
    if (placement.compute[i] == rank) {
      return placement.servers[static_cast<std::size_t>(placement.home[i])];
    }
  }
  return -1;
}

// The division of ranks in Bhardwaj, Bartholomew, Parsons, CUG 2023 (NODESIZE = 128).
TEST(Halves, CutsASinglePartialGroupInHalf) {
  const auto placement = place({.policy = Policy::halves, .node_size = 128}, nodes_of({128}));
  EXPECT_EQ(placement.compute, range(0, 63));
  EXPECT_EQ(placement.servers, range(64, 127));
}

TEST(Halves, LetsWholeGroupsAlternate) {
  const auto placement = place({.policy = Policy::halves, .node_size = 128}, nodes_of({128, 128}));
  EXPECT_EQ(placement.compute, range(0, 127));
  EXPECT_EQ(placement.servers, range(128, 255));
}

TEST(Halves, PairsRanksAtTheSamePositionOfTheNextGroup) {
  const auto placement =
      place({.policy = Policy::halves, .node_size = 16}, nodes_of({16, 16, 16, 16}));
  EXPECT_EQ(server_of(placement, 0), 16);
  EXPECT_EQ(server_of(placement, 1), 17);
  EXPECT_EQ(server_of(placement, 32), 48);
}

TEST(Halves, GivesTheExtraRankOfAnOddRemainderToTheLastServer) {
  const auto odd = place({.policy = Policy::halves, .node_size = 16}, nodes_of({5}));
  EXPECT_EQ(odd.compute, range(0, 2));
  EXPECT_EQ(server_of(odd, 2), 4);
  const auto alone = place({.policy = Policy::halves, .node_size = 2}, nodes_of({5}));
  EXPECT_EQ(alone.servers, (std::vector<int>{2, 3}));
  EXPECT_EQ(server_of(alone, 4), 3);
}

TEST(Spread, TakesEveryNthRankOfANode) {
  // Cha, Maeng 2011: 20 ranks on nodes of 8, 8 and 4 with 2 aggregators per node.
  const auto placement =
      place({.policy = Policy::spread, .servers_per_node = 2}, nodes_of({8, 8, 4}));
  EXPECT_EQ(placement.servers, (std::vector<int>{0, 4, 8, 12, 16, 18}));
  EXPECT_EQ(server_of(placement, 1), 0);
  EXPECT_EQ(server_of(placement, 5), 4);
  EXPECT_EQ(server_of(placement, 19), 18);
}

TEST(Packed, TakesTheLowestRanksOfANode) {
  const auto placement =
      place({.policy = Policy::packed, .servers_per_node = 2}, nodes_of({8, 8, 4}));
  EXPECT_EQ(placement.servers, (std::vector<int>{0, 1, 8, 9, 16, 17}));
}

TEST(Tail, TakesTheHighestRanksOfANode) {
  const auto placement =
      place({.policy = Policy::tail, .servers_per_node = 2}, nodes_of({8, 8, 4}));
  EXPECT_EQ(placement.servers, (std::vector<int>{6, 7, 14, 15, 18, 19}));
  EXPECT_EQ(server_of(placement, 0), 6);
  EXPECT_EQ(server_of(placement, 3), 7);
  EXPECT_EQ(server_of(placement, 17), 19);
}

TEST(List, ServesFromTheRanksNamed) {
  const auto placement = place({.policy = Policy::list, .servers = {3, 1}}, nodes_of({6}));
  EXPECT_EQ(placement.servers, (std::vector<int>{1, 3}));
  EXPECT_EQ(placement.compute, (std::vector<int>{0, 2, 4, 5}));
}

TEST(List, ServesFromNodesWhereNobodyComputes) {
  const auto placement = place({.policy = Policy::list, .servers = {2, 3}}, nodes_of({2, 2}));
  EXPECT_EQ(server_of(placement, 0), 2);
  EXPECT_EQ(server_of(placement, 1), 3);
}

TEST(List, NamesServersWhoseNodesHaveTooFewComputeRanks) {
  try {
    (void)place({.policy = Policy::list, .servers = {0, 1, 3}}, nodes_of({3, 4}));
    FAIL() << "server 0 or 1 has no compute rank";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("rank 0 and 1 more"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string{error.what()}.find("1 compute rank for 2 servers"), std::string::npos);
  }
}

TEST(Placement, GivesEveryComputeRankAServerWhateverTheCounts) {
  for (const Policy policy : {Policy::halves, Policy::spread, Policy::packed, Policy::tail}) {
    for (int ranks = 2; ranks <= 40; ++ranks) {
      for (int node = 1; node <= 9; ++node) {
        for (int ratio = 1; ratio <= 5; ++ratio) {
          std::vector<int> sizes(static_cast<std::size_t>(ranks / node), node);
          if (ranks % node != 0) {
            sizes.push_back(ranks % node);
          }
          if (policy != Policy::halves && node == 1) {
            continue;  // nobody can spare a rank: an error, tested below
          }
          const auto placement =
              place({.policy = policy, .ratio = ratio, .node_size = node}, nodes_of(sizes));
          ASSERT_EQ(placement.compute.size() + placement.servers.size(),
                    static_cast<std::size_t>(ranks));
          const std::set<int> used(placement.home.begin(), placement.home.end());
          ASSERT_EQ(used.size(), placement.servers.size()) << ranks << " ranks, nodes of " << node;
        }
      }
    }
  }
}

TEST(Placement, RefusesOneRankAlone) {
  EXPECT_THROW((void)place({.policy = Policy::halves}, nodes_of({1})), Error);
}

TEST(Placement, RefusesMoreServersThanComputeRanks) {
  EXPECT_THROW((void)place({.policy = Policy::spread, .servers_per_node = 3}, nodes_of({4})),
               Error);
  EXPECT_THROW((void)place({.policy = Policy::list, .servers = {0, 1, 2}}, nodes_of({4})), Error);
  EXPECT_THROW((void)place({.policy = Policy::list, .servers = {0, 9}}, nodes_of({4})), Error);
  EXPECT_THROW((void)place({.policy = Policy::packed}, nodes_of({1, 1})), Error);
}

}  // namespace
}  // namespace iocomp::placement
