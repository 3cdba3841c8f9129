// SPDX-License-Identifier: BSD-3-Clause
#include "placement/exchange.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::placement {
namespace {

/// Cha, Maeng 2011: a grid of 8 x 4 blocks, 2 nodes of 16 ranks, 4 sockets of 4 cores, ranks 0-3
/// aggregate.
Exchange example(Affinity affinity) {
  return {.grid = {8, 4},
          .ranks_of_node = {16, 16},
          .sockets = 4,
          .cores_per_socket = 4,
          .aggregators_per_node = 4,
          .order = Order::packed,
          .affinity = affinity};
}

using Counts = std::vector<std::pair<std::int64_t, std::int64_t>>;

Counts of_node(const std::vector<SocketMessages>& messages, int node) {
  Counts counts;
  for (const auto& one : messages) {
    if (one.node == node) {
      counts.emplace_back(one.inter, one.intra);
      EXPECT_EQ(one.remote, 0);
    }
  }
  return counts;
}

TEST(Exchange, HasTheMessagesOfTheTableForAccumulatedRanks) {
  const auto messages = exchange_messages(example(Affinity::accumulated));
  EXPECT_EQ(of_node(messages, 0), (Counts{{24, 6}, {8, 0}, {8, 0}, {8, 0}}));
  EXPECT_EQ(of_node(messages, 1), of_node(messages, 0));
}

TEST(Exchange, HasTheMessagesOfTheTableForDistributedRanks) {
  const auto messages = exchange_messages(example(Affinity::distributed));
  EXPECT_EQ(of_node(messages, 0), (Counts{{12, 1}, {12, 1}, {12, 2}, {12, 2}}));
}

TEST(Exchange, SpreadAggregatorsShareTheMessagesOutAmongSockets) {
  auto exchange = example(Affinity::accumulated);
  exchange.order = Order::spread;
  const auto spread = of_node(exchange_messages(exchange), 0);
  for (const auto& [inter, intra] : spread) {
    EXPECT_LT(inter, 24);
    EXPECT_GT(intra, 0);
  }
}

TEST(Exchange, CountsEveryMessageOnceAtEachEnd) {
  // 6 x 3 blocks on nodes of 10 and 8: two aggregators each, domains of 3/4 of a layer.
  const Exchange exchange{.grid = {6, 3},
                          .ranks_of_node = {10, 8},
                          .sockets = 2,
                          .cores_per_socket = 5,
                          .aggregators_per_node = 2,
                          .order = Order::spread};
  std::int64_t ends = 0;
  for (const auto& one : exchange_messages(exchange)) {
    ends += one.inter + 2 * one.intra + one.remote;
  }
  // Layers touch domains 0-1, 1-2 and 2-3: 36 ways from rank to domain. Aggregators are ranks 0, 5,
  // 10 and 14: ranks 0 and 5 (layer 0, domains 0 and 1), 10 (layer 1, domain 2) and 14 (layer 2,
  // domain 3) meet themselves.
  EXPECT_EQ(ends, 2 * (36 - 4));
}

TEST(Exchange, RefusesWhatDoesNotFitTogether) {
  auto grid = example(Affinity::accumulated);
  grid.grid = {8, 5};
  EXPECT_THROW(static_cast<void>(exchange_messages(grid)), Error);
  auto many = example(Affinity::accumulated);
  many.aggregators_per_node = 17;
  EXPECT_THROW(static_cast<void>(exchange_messages(many)), Error);
  auto full = example(Affinity::accumulated);
  full.cores_per_socket = 3;
  EXPECT_THROW(static_cast<void>(exchange_messages(full)), Error);
}

}  // namespace
}  // namespace iocomp::placement
