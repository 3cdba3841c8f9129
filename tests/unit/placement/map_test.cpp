// SPDX-License-Identifier: BSD-3-Clause
#include "placement/map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "topology/discover.h"

namespace iocomp::placement {
namespace {

Machine machine(const std::string& topology, int nodes = 1) {
  return {.kinds = {topology::describe(topology)},
          .kind_of_node = std::vector<std::size_t>(static_cast<std::size_t>(nodes), 0)};
}

std::vector<int> cpus(const Map& map) {
  std::vector<int> found;
  for (const auto& seat : map.seats) {
    found.push_back(seat.cpu);
  }
  return found;
}

std::vector<int> servers(const Map& map) {
  std::vector<int> found;
  for (std::size_t rank = 0; rank < map.seats.size(); ++rank) {
    if (map.seats[rank].serves) {
      found.push_back(static_cast<int>(rank));
    }
  }
  return found;
}

const Seat& seat(const Map& map, int rank) { return map.seats.at(static_cast<std::size_t>(rank)); }

std::string complaint(const MapRequest& request) {
  try {
    static_cast<void>(map_ranks(request));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

// Bhardwaj, Bartholomew, Parsons, CUG 2023: 4 compute ranks on one ARCHER2 node.
TEST(PaperMappings, PutFourComputeRanksOnTheCpusOfTheTable) {
  const auto archer2 = machine("archer2");
  EXPECT_EQ(cpus(map_ranks({.mapping = Mapping::sequential, .machine = archer2, .ranks = 4})),
            (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(cpus(map_ranks({.mapping = Mapping::hyperthread, .machine = archer2, .ranks = 8})),
            (std::vector<int>{0, 1, 2, 3, 128, 129, 130, 131}));
  EXPECT_EQ(cpus(map_ranks({.mapping = Mapping::consecutive, .machine = archer2, .ranks = 8})),
            (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(cpus(map_ranks({.mapping = Mapping::oversubscribe, .machine = archer2, .ranks = 8})),
            (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(PaperMappings, PairEachComputeRankWithTheRankAtItsPosition) {
  for (const auto mapping : {Mapping::hyperthread, Mapping::consecutive, Mapping::oversubscribe}) {
    const auto map =
        map_ranks({.mapping = mapping, .machine = machine("archer2"), .compute_ranks = 4});
    ASSERT_EQ(map.seats.size(), 8U);
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_EQ(seat(map, rank).pair, rank + 4);
      EXPECT_EQ(seat(map, rank + 4).pair, rank);
    }
  }
}

// The same, NODESIZE 16: 64 ranks.
TEST(PaperMappings, ConsecutivePutsEachGroupOnANodeOfItsOwn) {
  const auto map = map_ranks({.mapping = Mapping::consecutive,
                              .machine = machine("archer2", 4),
                              .ranks = 64,
                              .node_size = 16});
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(seat(map, rank).node, rank / 16);
    EXPECT_EQ(seat(map, rank).cpu, rank % 16);
    EXPECT_EQ(seat(map, rank).serves, rank / 16 % 2 == 1);
  }
  EXPECT_EQ(seat(map, 0).pair, 16);
  EXPECT_EQ(seat(map, 1).pair, 17);
  EXPECT_EQ(seat(map, 32).pair, 48);
}

TEST(PaperMappings, HyperthreadAndOversubscribeKeepAGroupAndItsServersOnOneNode) {
  for (const auto& [mapping, first_cpu] :
       std::map<Mapping, int>{{Mapping::hyperthread, 128}, {Mapping::oversubscribe, 0}}) {
    const auto map = map_ranks(
        {.mapping = mapping, .machine = machine("archer2", 4), .ranks = 64, .node_size = 16});
    for (int rank = 0; rank < 64; ++rank) {
      const bool serves = rank / 16 % 2 == 1;
      EXPECT_EQ(seat(map, rank).node, rank / 32);
      EXPECT_EQ(seat(map, rank).serves, serves);
      EXPECT_EQ(seat(map, rank).cpu, (serves ? first_cpu : 0) + rank % 16);
    }
    EXPECT_EQ(seat(map, 0).pair, 16);
    EXPECT_EQ(seat(map, 32).pair, 48);
  }
}

// The division of ranks of the same paper, NODESIZE 128.
TEST(PaperMappings, DivideRanksAsHalvesDoes) {
  const auto one = map_ranks({.mapping = Mapping::consecutive,
                              .machine = machine("archer2"),
                              .ranks = 128,
                              .node_size = 128});
  EXPECT_EQ(servers(one).front(), 64);
  EXPECT_EQ(servers(one).size(), 64U);
  const auto two = map_ranks({.mapping = Mapping::consecutive,
                              .machine = machine("archer2", 2),
                              .ranks = 256,
                              .node_size = 128});
  EXPECT_EQ(servers(two).front(), 128);
  EXPECT_EQ(seat(two, 255).cpu, 127);
}

TEST(L3, HasAServerInEveryGroupOfAFullNode) {
  const auto map = map_ranks({.mapping = Mapping::l3, .machine = machine("archer2"), .ranks = 128});
  ASSERT_EQ(servers(map).size(), 32U);
  for (int rank = 0; rank < 96; ++rank) {
    EXPECT_EQ(seat(map, rank).cpu / 4, seat(map, seat(map, rank).pair).cpu / 4);
  }
}

TEST(Numa, HasAServerInEveryDomainOfAFullNode) {
  const auto map =
      map_ranks({.mapping = Mapping::numa, .machine = machine("archer2"), .ranks = 128});
  ASSERT_EQ(servers(map).size(), 8U);
  for (int rank = 0; rank < 120; ++rank) {
    EXPECT_EQ(seat(map, rank).cpu / 16, seat(map, seat(map, rank).pair).cpu / 16);
  }
}

TEST(L3, KeepsSmallerBlocksInGroupsThatMissACore) {
  auto node = topology::describe("archer2");
  std::vector<int> without_cpu_1(256);
  std::iota(without_cpu_1.begin(), without_cpu_1.end(), 0);
  std::erase_if(without_cpu_1, [](int cpu) { return cpu == 1 || cpu == 129; });
  topology::restrict_to(node, without_cpu_1);
  const auto map = map_ranks({.mapping = Mapping::l3, .machine = {{node}, {0}}, .ranks = 127});
  ASSERT_EQ(servers(map).size(), 32U);
  for (const auto& one : map.seats) {
    EXPECT_EQ(one.cpu / 4, seat(map, one.pair).cpu / 4);
  }
}

TEST(Node, HasAsManyServersOnEveryNodeAsAskedFor) {
  const auto map = map_ranks({.mapping = Mapping::node,
                              .machine = machine("archer2", 3),
                              .ranks = 30,
                              .servers_per_node = 2});
  EXPECT_EQ(servers(map), (std::vector<int>{8, 9, 18, 19, 28, 29}));
  EXPECT_EQ(cpus(map)[8], 4);  // beside the four that it serves
  EXPECT_EQ(cpus(map)[9], 9);
  EXPECT_EQ(map.settings.policy, Policy::tail);
}

TEST(Nodes, LetsEveryMthNodeServe) {
  const auto map = map_ranks(
      {.mapping = Mapping::nodes, .machine = machine("archer2", 8), .ranks = 64, .every = 4});
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(seat(map, rank).serves, seat(map, rank).node % 4 == 3);
  }
  EXPECT_EQ(seat(map, 0).pair, 24);
  EXPECT_EQ(seat(map, 32).pair, 56);
}

TEST(Nodes, TakesASmallerNumberOfRanksOnServingNodes) {
  const auto map = map_ranks({.mapping = Mapping::nodes,
                              .machine = machine("archer2", 4),
                              .ranks = 32 + 4,
                              .servers_per_node = 2,
                              .every = 2});
  EXPECT_EQ(servers(map).size(), 4U);
  EXPECT_EQ(seat(map, servers(map).front()).node, 1);
}

TEST(Hyperthread, ServesFromTheSiblingOfTheFirstClient) {
  const auto map = map_ranks({.mapping = Mapping::hyperthread,
                              .machine = machine("archer2"),
                              .ranks = 10,
                              .ratio = Ratio{4, 1}});
  EXPECT_EQ(cpus(map), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 128, 132}));
}

TEST(Hyperthread, UsesTheSecondOfFourThreads) {
  const auto map = map_ranks(
      {.mapping = Mapping::hyperthread, .machine = machine("pack:1 core:8 pu:4"), .ranks = 4});
  EXPECT_EQ(cpus(map), (std::vector<int>{0, 4, 1, 5}));
}

TEST(Hyperthread, AvoidsCoresWhoseSiblingIsNotAllowed) {
  auto node = topology::describe("pack:1 core:4 pu:2");
  topology::restrict_to(node, {0, 1, 2, 4, 5, 6, 7});
  const auto map =
      map_ranks({.mapping = Mapping::hyperthread, .machine = {{node}, {0}}, .ranks = 6});
  EXPECT_EQ(cpus(map), (std::vector<int>{0, 4, 6, 1, 5, 7}));
}

TEST(HeterogeneousNodes, GetAsManyRanksAsTheyHaveRoomFor) {
  const Machine mixed{
      .kinds = {topology::describe("pack:1 core:2 pu:1"), topology::describe("pack:1 core:8 pu:1")},
      .kind_of_node = {0, 1, 1}};
  const auto map = map_ranks({.mapping = Mapping::consecutive, .machine = mixed, .ranks = 14});
  EXPECT_EQ(servers(map), (std::vector<int>{1, 5, 6, 7, 11, 12, 13}));
  EXPECT_EQ(map.settings.policy, Policy::tail);
}

TEST(Map, GivesNoCpuAwayTwiceUnlessAsked) {
  const std::vector<std::string> topologies{"archer2", "pack:2 core:4 pu:4",
                                            "pack:1 l3:2 core:3 pu:2"};
  for (const auto& topology : topologies) {
    for (const auto& name : mapping_names()) {
      const auto mapping = mapping_named(name);
      if (mapping == Mapping::oversubscribe ||
          (mapping == Mapping::l3 && topology == topologies[1])) {
        continue;
      }
      for (int ranks = 4; ranks <= 12; ++ranks) {
        for (int compute = 1; compute <= 4; ++compute) {
          const auto map = map_ranks({.mapping = mapping,
                                      .machine = machine(topology, 6),
                                      .ranks = 3 * ranks,
                                      .ratio = Ratio{compute, 1}});
          std::set<std::pair<int, int>> taken;
          for (const auto& one : map.seats) {
            EXPECT_TRUE(taken.emplace(one.node, one.cpu).second) << name << ' ' << ranks;
          }
        }
      }
    }
  }
}

// The settings of the launch line must make the library find what the map shows.
TEST(Map, HasThePairsThatTheLibraryFinds) {
  for (const auto& name : mapping_names()) {
    for (int ranks = 4; ranks <= 40; ++ranks) {
      const auto mapping = mapping_named(name);
      if (mapping == Mapping::sequential) {
        continue;
      }
      const auto map = map_ranks({.mapping = mapping,
                                  .machine = machine("archer2", 3),
                                  .ranks = ranks,
                                  .ratio = Ratio{3, 1},
                                  .every = mapping == Mapping::nodes ? 3 : 0});
      std::vector<int> nodes;
      for (const auto& one : map.seats) {
        nodes.push_back(one.node);
      }
      const auto placement = place(map.settings, nodes);
      EXPECT_EQ(placement.servers, servers(map)) << name << ' ' << ranks;
      for (std::size_t i = 0; i < placement.compute.size(); ++i) {
        EXPECT_EQ(seat(map, placement.compute[i]).pair,
                  placement.servers[static_cast<std::size_t>(placement.home[i])]);
      }
    }
  }
}

TEST(Map, FillsTheMachineWhenNoNumberIsGiven) {
  EXPECT_EQ(
      map_ranks({.mapping = Mapping::hyperthread, .machine = machine("archer2", 2)}).seats.size(),
      512U);
  EXPECT_EQ(
      map_ranks({.mapping = Mapping::consecutive, .machine = machine("archer2")}).seats.size(),
      128U);
}

TEST(Map, FindsTheJobForANumberOfComputeRanks) {
  for (const auto& name : mapping_names()) {
    for (int compute = 3; compute <= 60; ++compute) {
      const auto map = map_ranks({.mapping = mapping_named(name),
                                  .machine = machine("archer2", 2),
                                  .compute_ranks = compute});
      EXPECT_EQ(map.seats.size() - servers(map).size(), static_cast<std::size_t>(compute)) << name;
    }
  }
}

TEST(Map, TakesAHundredThousandRanksOnEightHundredNodes) {
  for (const auto mapping : {Mapping::hyperthread, Mapping::l3, Mapping::nodes}) {
    const auto map =
        map_ranks({.mapping = mapping, .machine = machine("archer2", 800), .ranks = 100000});
    EXPECT_EQ(map.seats.size(), 100000U);
  }
}

TEST(ImpossibleRequests, NameTheNearestChoice) {
  const auto archer2 = machine("archer2");
  const auto arm = machine("pack:2 numa:1 core:4 pu:1");
  expect_in(complaint({.mapping = Mapping::consecutive, .machine = archer2, .ranks = 200}),
            {"200 ranks", "room for 128 on 1 node", "2 such nodes", "hyperthread"});
  expect_in(complaint({.mapping = Mapping::hyperthread, .machine = archer2, .ranks = 300}),
            {"300 ranks", "nearest: 256 ranks", "2 such nodes"});
  expect_in(complaint({.mapping = Mapping::hyperthread, .machine = arm, .ranks = 4}),
            {"hyperthread", "nearest is mapping oversubscribe"});
  expect_in(complaint({.mapping = Mapping::l3, .machine = arm, .ranks = 4}),
            {"L3", "nearest is mapping numa, with 2 domains"});
  expect_in(complaint({.machine = archer2, .ranks = 9, .ratio = Ratio{1, 2}}),
            {"1:2", "nearest is 1:1"});
  expect_in(complaint({.machine = archer2, .ranks = 9, .ratio = Ratio{4, 0}}),
            {"4:0", "nearest is 4:1"});
  expect_in(
      complaint({.mapping = Mapping::node, .machine = archer2, .ranks = 9, .servers_per_node = 5}),
      {"5 servers", "9 ranks", "nearest is 4"});
  expect_in(complaint({.machine = archer2, .ranks = 1}), {"needs a server", "mapping sequential"});
  expect_in(complaint({.mapping = Mapping::nodes, .machine = archer2, .ranks = 8}), {"2 nodes"});
  expect_in(complaint({.machine = machine("pack:1 core:2 pu:1", 2), .ranks = 4, .node_size = 128}),
            {"node size 128", "nearest is node size 2"});
  expect_in(complaint({.machine = archer2, .compute_ranks = 100}), {"100 compute ranks", "64"});
}

TEST(ImpossibleRequests, NameTheMappings) {
  EXPECT_THROW(static_cast<void>(mapping_named("hyperthreads")), Error);
  EXPECT_EQ(mapping_named("nodes"), Mapping::nodes);
  EXPECT_EQ(name_of(Mapping::l3), "l3");
}

}  // namespace
}  // namespace iocomp::placement
