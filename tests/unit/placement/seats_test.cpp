// SPDX-License-Identifier: BSD-3-Clause
#include "placement/seats.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "topology/discover.h"

namespace iocomp::placement {
namespace {

const topology::Node& archer2() {
  static const topology::Node node = topology::describe("archer2");
  return node;
}

Pairs pairs(Closeness kind, std::int64_t count) {
  Pairs all{};
  all.at(static_cast<std::size_t>(kind)) = count;
  return all;
}

// ARCHER2: an L3 cache per 4 cores, a NUMA domain per 16, a package per 64, sibling = core + 128
// (Bhardwaj, Bartholomew, Parsons, CUG 2023).
TEST(Seats, TellHowCloseTwoRanksSit) {
  EXPECT_EQ(closeness(archer2(), {0}, {0}), Closeness::same_thread);
  EXPECT_EQ(closeness(archer2(), {0}, {128}), Closeness::sibling);
  EXPECT_EQ(closeness(archer2(), {5}, {133}), Closeness::sibling);
  EXPECT_EQ(closeness(archer2(), {0, 128}, {0, 128}), Closeness::shared_core);
  EXPECT_EQ(closeness(archer2(), {0}, {0, 128}), Closeness::shared_core);
  EXPECT_EQ(closeness(archer2(), {0}, {3}), Closeness::same_l3);
  EXPECT_EQ(closeness(archer2(), {0}, {131}), Closeness::same_l3);
  EXPECT_EQ(closeness(archer2(), {0}, {4}), Closeness::same_numa);
  EXPECT_EQ(closeness(archer2(), {0}, {16}), Closeness::same_node);
  EXPECT_EQ(closeness(archer2(), {0}, {64}), Closeness::same_node);
  EXPECT_EQ(closeness(archer2(), {0, 1}, {1, 2}), Closeness::unbound);
  EXPECT_EQ(closeness(archer2(), {0, 1, 2, 3}, {4, 5}), Closeness::same_numa);
  EXPECT_EQ(closeness(archer2(), {}, {4}), Closeness::unbound);
}

TEST(Seats, NameTheMappingThatTheyMake) {
  EXPECT_EQ(found_mapping(pairs(Closeness::same_thread, 4)), "oversubscribe");
  EXPECT_EQ(found_mapping(pairs(Closeness::sibling, 4)), "hyperthread");
  EXPECT_EQ(found_mapping(pairs(Closeness::other_node, 4)), "consecutive");
  EXPECT_EQ(found_mapping(Pairs{}), "sequential");
  Pairs several = pairs(Closeness::sibling, 3);
  several.at(static_cast<std::size_t>(Closeness::same_l3)) = 1;
  EXPECT_EQ(found_mapping(several), "mixed");
  EXPECT_EQ(text(several), "3 of 4 on SMT siblings, 1 of 4 on cores of one L3");
  several.at(static_cast<std::size_t>(Closeness::unbound)) = 1;
  EXPECT_EQ(found_mapping(several), "unbound");
}

TEST(Seats, AgreeWithWhatAMappingPromises) {
  EXPECT_TRUE(agrees(Mapping::hyperthread, pairs(Closeness::sibling, 2)));
  EXPECT_FALSE(agrees(Mapping::hyperthread, pairs(Closeness::same_thread, 2)));
  EXPECT_FALSE(agrees(Mapping::hyperthread, Pairs{}));
  EXPECT_TRUE(agrees(Mapping::sequential, Pairs{}));
  EXPECT_FALSE(agrees(Mapping::sequential, pairs(Closeness::sibling, 1)));
  EXPECT_TRUE(agrees(Mapping::numa, pairs(Closeness::same_l3, 1)));
  EXPECT_FALSE(agrees(Mapping::l3, pairs(Closeness::same_numa, 1)));
  EXPECT_FALSE(agrees(Mapping::node, pairs(Closeness::other_node, 1)));
  EXPECT_TRUE(agrees(Mapping::nodes, pairs(Closeness::other_node, 1)));
  EXPECT_FALSE(agrees(Mapping::consecutive, pairs(Closeness::unbound, 1)));
}

TEST(Seats, FindServersOfOthersOnTheCoresOfComputeRanks) {
  // Ranks 0 and 1 compute, 2 and 3 serve them.
  const std::vector<int> servers{2, 3, 2, 3};
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {128}, {129}}, servers), 0);
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {129}, {128}}, servers), 2);
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {2}, {3}}, servers), 0);
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {2}, {1}}, servers), 0);
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {0}, {0}}, servers), 1);
  EXPECT_EQ(strangers(archer2(), {{0}, {1}, {4}, {128}}, {-1, -1, -1, 3}), 1);
}

TEST(Seats, LetSiblingsServe) {
  const auto found =
      servers_by_seats(archer2(), {{0}, {1}, {2}, {3}, {128}, {129}, {130}, {131}}, 4);
  EXPECT_EQ(found, (std::vector<int>{4, 5, 6, 7, 4, 5, 6, 7}));
}

TEST(Seats, LetNeighboursServe) {
  const auto found = servers_by_seats(archer2(), {{0}, {1}, {2}, {64}, {65}, {66}}, 2);
  EXPECT_EQ(found, (std::vector<int>{2, 2, 2, 5, 5, 5}));
}

TEST(Seats, PairWhoShareAThread) {
  EXPECT_EQ(servers_by_seats(archer2(), {{0}, {1}, {0}, {1}}, 2), (std::vector<int>{2, 3, 2, 3}));
}

TEST(Seats, SayNothingOfRanksThatAreNotBound) {
  EXPECT_FALSE(servers_by_seats(archer2(), {{0, 1}, {2}}, 1));
  EXPECT_FALSE(servers_by_seats(archer2(), {{}, {2}}, 1));
  EXPECT_FALSE(servers_by_seats(archer2(), {{0}, {999}}, 1));
  EXPECT_TRUE(servers_by_seats(archer2(), {{0, 128}, {1, 129}}, 1));
}

}  // namespace
}  // namespace iocomp::placement
