// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/node_stripes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "staging/stripe_memory.h"
#include "unit/seed.h"
#include "unit/transport/sharing_ranks.h"

namespace iocomp::transport {
namespace {

using State = staging::StripeMemory::State;
using Key = staging::StripeMemory::Key;
using Held = staging::StripeMemory::Held;

constexpr std::size_t kib = 1024;

Key key(std::int64_t begin, std::int64_t step = 0) {
  return {.file = 7, .step = step, .begin = begin, .variable = 1};
}

TEST(NodeStripes, AreWrittenByTheRankThatMakesThemFull) {
  SharingRanks node{2};
  const auto mine = node[0].hold(key(0), 8 * kib, 10);
  const auto theirs = node[1].hold(key(0), 8 * kib, 10);
  ASSERT_TRUE(mine && theirs);
  EXPECT_EQ(mine->id, theirs->id);
  std::memset(mine->bytes.data(), 1, 4 * kib);
  EXPECT_FALSE(node[0].fill(*mine, 6));
  EXPECT_EQ(node[0].look(*mine), State::open);
  std::memset(theirs->bytes.data() + 4 * kib, 2, 4 * kib);
  EXPECT_TRUE(node[1].fill(*theirs, 4));
  EXPECT_EQ(theirs->bytes[0], std::byte{1});
  EXPECT_EQ(node[0].look(*mine), State::taken);
  EXPECT_TRUE(node[1].is_writing());
  node[1].tell(*theirs, {ErrorCode::storage_failure, "writing fails: " + std::string(1000, 'x')});
  node[1].leave(*theirs);
  EXPECT_FALSE(node[1].is_writing());
  ASSERT_EQ(node[0].look(*mine), State::written);
  EXPECT_EQ(node[0].outcome(*mine).code, ErrorCode::storage_failure);
  EXPECT_TRUE(node[0].outcome(*mine).story.starts_with("writing fails: xxx"));
  EXPECT_GT(node[0].own_bytes(), 0U);
  node[0].leave(*mine);
  EXPECT_EQ(node[0].own_bytes(), 0U);
}

TEST(NodeStripes, AreWrittenInPartsWhenTheyAreWithdrawn) {
  SharingRanks node{2};
  const auto mine = node[0].hold(key(0), kib, 10);
  const auto theirs = node[1].hold(key(0), kib, 10);
  EXPECT_FALSE(node[0].fill(*mine, 6));
  node[1].withdraw(*theirs);
  EXPECT_EQ(node[0].look(*mine), State::withdrawn);
  EXPECT_FALSE(node[1].fill(*theirs, 4));  // what is put in now its holder writes itself
  const auto next = node[1].hold(key(0), kib, 10);
  ASSERT_TRUE(next);
  EXPECT_NE(next->id, theirs->id);
  EXPECT_EQ(node[1].look(*next), State::open);
  node[0].leave(*mine);
  node[1].leave(*theirs);
  node[1].leave(*next);
  EXPECT_EQ(node[0].own_bytes() + node[1].own_bytes(), 0U);
}

TEST(NodeStripes, AreJoinedByThoseWhoMakeNone) {
  SharingRanks node{2};
  EXPECT_FALSE(node[1].hold_open(key(0), kib));
  const auto mine = node[0].hold(key(0), kib, 10);
  const auto theirs = node[1].hold_open(key(0), kib);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->id, mine->id);
  EXPECT_FALSE(node[0].fill(*mine, 6));
  EXPECT_TRUE(node[1].fill(*theirs, 4));
  EXPECT_FALSE(node[1].hold_open(key(0), kib));
  node[1].leave(*theirs);
  node[0].leave(*mine);
  EXPECT_EQ(node[0].own_bytes() + node[1].own_bytes(), 0U);
}

// Another stripe lies behind.
TEST(NodeStripes, AreNotHeldByThoseWhoTakeThemForLonger) {
  SharingRanks node{2};
  const auto mine = node[0].hold(key(0), 8 * kib, 10);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(node[1].hold(key(0), 16 * kib, 20));
  EXPECT_FALSE(node[1].hold_open(key(0), 16 * kib));
  const auto theirs = node[1].hold(key(0), 8 * kib, 10);
  ASSERT_TRUE(theirs);
  node[1].leave(*theirs);
  node[0].leave(*mine);
}

TEST(NodeStripes, HaveTheMemoryThatTheyNeed) {
  SharingRanks node{1};
  const auto small = node[0].hold(key(0), kib, 10);
  EXPECT_EQ(node[0].own_bytes(), 4 * kib);
  const auto large = node[0].hold(key(1), 8 * kib, 10);
  EXPECT_EQ(node[0].own_bytes(), 12 * kib);
  std::memset(small->bytes.data(), 1, small->bytes.size());
  std::memset(large->bytes.data(), 2, large->bytes.size());
  EXPECT_EQ(small->bytes[kib], std::byte{1});
  node[0].leave(*small);
  node[0].leave(*large);
  std::vector<Held> held;  // of another size, in the same memory
  while (const auto one = node[0].hold(key(std::ssize(held)), 4 * kib, 10)) {
    held.push_back(*one);
  }
  EXPECT_EQ(held.size(), node.terms.rank_bytes / (4 * kib));
}

TEST(NodeStripes, TakeOnlyMemoryOfTheRankThatMakesThem) {
  SharingRanks node{2};
  std::vector<Held> held;
  while (const auto one = node[0].hold(key(std::ssize(held)), 8 * kib, 10)) {
    held.push_back(*one);
  }
  EXPECT_EQ(held.size(), node.terms.rank_bytes / (8 * kib));
  EXPECT_LE(node[0].own_bytes(), node.terms.rank_bytes);
  EXPECT_FALSE(node[0].has_room(key(100), kib));
  EXPECT_TRUE(node[0].has_room(key(0), kib));
  EXPECT_TRUE(node[1].has_room(key(100), kib));
  const auto theirs = node[1].hold(key(0), 8 * kib, 10);
  EXPECT_EQ(theirs->id, held[0].id);
  node[0].leave(held[0]);
  EXPECT_FALSE(node[0].has_room(key(100), kib));  // it is still held
  node[1].leave(*theirs);
  EXPECT_TRUE(node[0].has_room(key(100), kib));
}

TEST(NodeStripes, KeepToTheBoundOfTheirRank) {
  SharingRanks node{1};
  bool has_room = false;
  std::size_t asked = 0;
  node[0].share_bound_with([&](std::size_t bytes) {
    asked = bytes;
    return has_room;
  });
  EXPECT_FALSE(node[0].hold(key(0), kib, 10));
  EXPECT_EQ(asked, 4 * kib);
  has_room = true;
  EXPECT_TRUE(node[0].hold(key(0), kib, 10));
}

TEST(NodeStripes, AreNotFoundAgainWhenTheyHaveGone) {
  SharingRanks node{1};
  const auto first = node[0].hold(key(0), kib, 10);
  ASSERT_TRUE(node[0].fill(*first, 10));
  node[0].leave(*first);
  const auto second = node[0].hold(key(0), kib, 10);
  EXPECT_NE(second->id, first->id);
  node[0].tell(*first, {ErrorCode::storage_failure, "late"});  // of the first: nobody is told
  EXPECT_EQ(node[0].look(*second), State::open);
}

// Each rank adds to stripes in any order; some are withdrawn. Each element has one writer.
TEST(NodeStripes, FindOneWriterForEachElementWhateverTheOrder) {
  const auto seed = test_seed();
  SCOPED_TRACE(seed_text(seed));
  std::mt19937 generator{seed};
  for (int round = 0; round < 200; ++round) {
    constexpr std::int64_t stripes = 5;
    constexpr std::int64_t elements = 12;
    const auto ranks = static_cast<std::size_t>(draw(generator, 1, 4));
    SharingRanks node{ranks};
    // By element: its rank.
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> puts;
    std::vector<std::pair<std::int64_t, std::int64_t>> order;
    for (std::int64_t s = 0; s < stripes; ++s) {
      for (std::int64_t e = 0; e < elements; ++e) {
        puts[{s, e}] = static_cast<std::size_t>(draw(generator, 0, std::ssize(node.ranks) - 1));
        order.emplace_back(s, e);
      }
    }
    std::ranges::shuffle(order, generator);
    struct Open {
      Held held;
      std::vector<std::int64_t> own;
    };
    std::vector<std::map<std::int64_t, Open>> open(ranks);
    std::map<std::pair<std::int64_t, std::int64_t>, int> written;
    const auto write_own = [&](std::size_t rank, std::int64_t s) {
      for (const auto e : open[rank][s].own) {
        ++written[{s, e}];
      }
      node[rank].leave(open[rank][s].held);
      open[rank].erase(s);
    };
    for (const auto& [s, e] : order) {
      const std::size_t rank = puts[{s, e}];
      if (open[rank].contains(s) && node[rank].look(open[rank][s].held) == State::withdrawn) {
        write_own(rank, s);
      }
      if (!open[rank].contains(s)) {
        const auto held = node[rank].hold(key(s), kib, elements);
        if (!held) {
          ++written[{s, e}];
          continue;
        }
        open[rank][s].held = *held;
      }
      auto& [held, own] = open[rank][s];
      held.bytes[static_cast<std::size_t>(e)] = static_cast<std::byte>(e + 1);
      own.push_back(e);
      if (node[rank].fill(held, 1)) {
        for (std::int64_t all = 0; all < elements; ++all) {
          EXPECT_EQ(held.bytes[static_cast<std::size_t>(all)], static_cast<std::byte>(all + 1));
          ++written[{s, all}];
        }
        node[rank].tell(held, {});
        node[rank].leave(held);
        open[rank].erase(s);
      } else if (draw(generator, 0, 10) == 0) {
        node[rank].withdraw(held);
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      while (!open[rank].empty()) {
        const std::int64_t s = open[rank].begin()->first;
        node[rank].withdraw(open[rank][s].held);
        if (node[rank].look(open[rank][s].held) == State::withdrawn) {
          write_own(rank, s);
        } else {
          EXPECT_EQ(node[rank].look(open[rank][s].held), State::written);
          node[rank].leave(open[rank][s].held);
          open[rank].erase(s);
        }
      }
    }
    EXPECT_EQ(written.size(), puts.size());
    EXPECT_TRUE(std::ranges::all_of(written, [](const auto& one) { return one.second == 1; }));
    for (const auto& rank : node.ranks) {
      EXPECT_LE(rank->own_bytes(), node.terms.rank_bytes);
    }
  }
}

TEST(NodeStripes, AreFilledByRanksAtTheSameTime) {
  constexpr std::int64_t stripes = 2000;
  constexpr std::size_t ranks = 4;
  SharingRanks node{ranks, 4 * kib, 256 * kib};
  std::atomic<std::int64_t> written{0};
  std::atomic<std::int64_t> apart{0};
  const auto work = [&](std::size_t rank) {
    NodeStripes& own = node[rank];
    std::map<std::int64_t, Held> open;
    const auto look = [&] {
      std::erase_if(open, [&](const auto& one) {
        const auto state = own.look(one.second);
        if (state == State::written) {
          own.leave(one.second);
        }
        return state == State::written;
      });
    };
    for (std::int64_t s = 0; s < stripes; ++s) {
      std::optional<Held> held;
      while (!(held = own.hold(key(s), 4 * kib, ranks))) {
        look();
        std::this_thread::yield();
      }
      held->bytes[rank] = static_cast<std::byte>(s);
      if (own.fill(*held, 1)) {
        for (std::size_t other = 0; other < ranks; ++other) {
          apart += held->bytes[other] == static_cast<std::byte>(s) ? 0 : 1;
        }
        ++written;
        own.tell(*held, {});
        own.leave(*held);
      } else {
        open.emplace(s, *held);
      }
      look();
    }
    while (!open.empty()) {
      look();
      std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back(work, rank);
    }
  }
  EXPECT_EQ(written, stripes);
  EXPECT_EQ(apart, 0);
}

}  // namespace
}  // namespace iocomp::transport
