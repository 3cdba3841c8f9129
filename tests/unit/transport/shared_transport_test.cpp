// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/shared_transport.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "array/memory_box.h"
#include "base/futex.h"
#include "transport/shared_memory/join_node.h"
#include "transport/shared_memory/node_plan.h"
#include "transport/shared_memory/node_watch.h"
#include "transport/shared_memory/shared_mapping.h"
#include "transport/transport.h"

namespace iocomp::transport {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>((i * 131 + seed) >> (i % 3));
  }
  return bytes;
}

// A compute rank (session rank 10) and a server (11), here as two objects of one process.
class SharedTransportTest : public testing::Test {
 protected:
  void connect(SharedTransport::Options options = {}, pid_t pid = getpid()) {
    const NodePlan plan{{false, true}};
    SharedMapping made = SharedMapping::create(SharedMapping::Kind::memfd, "test", plan.bytes());
    SharedMapping other = SharedMapping::open(made.path(), plan.bytes(), true);
    options.limited = true;
    compute = std::make_unique<SharedTransport>(
        NodeMemory{plan, 0, {10, 11}, {pid, pid}, std::move(made), true, "memfd"}, options);
    options.limited = false;
    server = std::make_unique<SharedTransport>(
        NodeMemory{plan, 1, {10, 11}, {pid, pid}, std::move(other), true, "memfd"}, options);
  }
  void move() {
    for (int i = 0; i < 100'000 && (server->progress() || compute->progress()); ++i) {
    }
  }
  std::optional<Incoming> arrived() {
    move();
    return server->poll();
  }

  std::unique_ptr<SharedTransport> compute;
  std::unique_ptr<SharedTransport> server;
};

TEST_F(SharedTransportTest, BringsMessagesInOrderAlsoThoseLongerThanARing) {
  connect();
  const auto ring = NodePlan{{false, true}}.ring_bytes();
  const std::vector<Bytes> sent{pattern(0), pattern(100), pattern(5 * ring + 3), pattern(7)};
  for (const auto& message : sent) {
    compute->post(11, message, {}, 0);
  }
  for (const auto& message : sent) {
    const auto came = arrived();
    ASSERT_TRUE(came.has_value());
    EXPECT_EQ(came->sender, 10);
    EXPECT_EQ(came->message, message);
  }
  EXPECT_FALSE(arrived().has_value());
  EXPECT_TRUE(compute->is_idle());
}

TEST_F(SharedTransportTest, PullsBulkDataChunkByChunk) {
  connect();
  const Bytes bulk = pattern(10'000);
  const PostId post = compute->post(11, pattern(8), bulk, 6000);
  ASSERT_TRUE(arrived().has_value());
  Bytes got(bulk.size());
  server->fetch(10, std::span{got}.first(6000));
  move();
  EXPECT_FALSE(compute->is_taken(post));
  server->fetch(10, std::span{got}.subspan(6000));
  move();
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(got, bulk);
  EXPECT_EQ(server->tally().pulled_bytes, 10'000);
  EXPECT_TRUE(server->next_fetched() && server->next_fetched());
}

// Its number may be that of another process here, whose memory would be read.
TEST_F(SharedTransportTest, CopiesWhatComesFromAProcessThatItDoesNotKnow) {
  connect({}, unknown_process);
  const Bytes bulk = pattern(10'000);
  const PostId post = compute->post(11, pattern(8), bulk, bulk.size());
  ASSERT_TRUE(arrived().has_value());
  Bytes got(bulk.size());
  server->fetch(10, got);
  move();
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(got, bulk);
  EXPECT_EQ(server->tally().pulled_bytes, 0);
}

// Rows of 5 in an array of 40 x 30 x 8 elements: more of them than one call of the kernel takes.
struct Halo {
  std::vector<std::int32_t> values;
  StridedBytes rows;
  Bytes packed;

  Halo() : values(40L * 30 * 8) {
    std::iota(values.begin(), values.end(), 0);
    rows = {.array = reinterpret_cast<const std::byte*>(values.data()),
            .memory = {.shape = {.dimensions = 3, .extent = {40, 30, 8}},
                       .box = {.dimensions = 3, .start = {1, 2, 3}, .count = {38, 27, 5}}},
            .element_bytes = 4,
            .first = 7,
            .count = 38L * 27 * 5 - 9};
    packed.resize(rows.bytes());
    array::pack(rows.memory, 4, rows.array, rows.first, rows.count, packed.data());
  }
};

TEST_F(SharedTransportTest, PullsRowsInWholeElements) {
  connect();
  const Halo halo;
  const PostId post = compute->post_strided(11, pattern(8), halo.rows);
  const auto came = arrived();
  ASSERT_TRUE(came.has_value());
  EXPECT_EQ(came->message, pattern(8));
  EXPECT_FALSE(server->borrow(10, 400, std::nullopt).has_value());
  Bytes got(halo.packed.size());
  server->fetch(10, std::span{got}.first(4004));  // ends inside a row
  server->fetch(10, std::span{got}.subspan(4004));
  move();
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(got, halo.packed);
  EXPECT_EQ(server->tally().pulled_bytes, static_cast<double>(got.size()));
}

TEST_F(SharedTransportTest, CopiesRowsWherePullingFails) {
  constexpr pid_t nobody = 0x7ffffffe;
  connect({}, nobody);
  const Halo halo;
  const PostId post = compute->post_strided(11, pattern(8), halo.rows);
  ASSERT_TRUE(arrived().has_value());
  Bytes got(halo.packed.size());
  server->fetch(10, std::span{got}.first(4004));
  server->fetch(10, std::span{got}.subspan(4004));
  move();
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(got, halo.packed);
}

TEST_F(SharedTransportTest, AsksForCopiesWherePullingFails) {
  constexpr pid_t nobody = 0x7ffffffe;
  connect({}, nobody);
  const Bytes one = pattern(300'000, 1);
  const Bytes two = pattern(50'000, 2);
  compute->post(11, pattern(8), one, one.size());
  const PostId post = compute->post(11, pattern(8), two, two.size());
  ASSERT_TRUE(arrived() && arrived());
  Bytes got_one(one.size());
  Bytes got_two(two.size());
  const auto first = server->fetch(10, got_one);
  const auto second = server->fetch(10, got_two);
  EXPECT_FALSE(server->next_fetched().has_value());
  move();
  EXPECT_EQ(server->next_fetched(), first);
  EXPECT_EQ(server->next_fetched(), second);
  EXPECT_EQ(got_one, one);
  EXPECT_EQ(got_two, two);
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(server->tally().message_bytes, 350'000);
}

TEST_F(SharedTransportTest, LendsExportedMemoryUntilItIsGivenBack) {
  connect();
  const auto memory = compute->export_memory(20'000, false);
  ASSERT_EQ(memory.size(), 20'000U);
  const Bytes values = pattern(20'000);
  std::copy(values.begin(), values.end(), memory.begin());
  const PostId post = compute->post(11, pattern(8), memory.subspan(100, 9000), 9000);
  ASSERT_TRUE(arrived().has_value());
  EXPECT_FALSE(server->borrow(10, 9000, 99).has_value());  // lies otherwise in its page
  const auto borrowed = server->borrow(10, 9000, 100);
  ASSERT_TRUE(borrowed.has_value());
  EXPECT_TRUE(std::equal(borrowed->bytes.begin(), borrowed->bytes.end(), values.begin() + 100));
  EXPECT_TRUE(compute->withdraw_memory(memory.data()));
  move();
  EXPECT_FALSE(compute->is_taken(post));
  EXPECT_EQ(borrowed->bytes[8999], values[9099]);  // readable although its owner is rid of it
  server->give_back(borrowed->id);
  move();
  EXPECT_TRUE(compute->is_taken(post));
  EXPECT_EQ(server->tally().in_place_bytes, 9000);
  EXPECT_FALSE(compute->withdraw_memory(memory.data()));
}

TEST_F(SharedTransportTest, LendsNothingThatIsNotExported) {
  connect({.exports = false});
  EXPECT_TRUE(compute->export_memory(100, false).empty());
  const Bytes bulk = pattern(5000);
  compute->post(11, pattern(8), bulk, 5000);
  ASSERT_TRUE(arrived().has_value());
  EXPECT_FALSE(server->borrow(10, 5000, std::nullopt).has_value());
}

TEST_F(SharedTransportTest, HoldsPostsBackUntilThereIsCredit) {
  connect({.window = 4});
  for (int i = 0; i < 6; ++i) {
    compute->post(11, pattern(8), {}, 0);
  }
  EXPECT_EQ(compute->held_back(11), 2U);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(arrived().has_value());
    server->give_credit(10);
  }
  move();
  EXPECT_EQ(compute->held_back(11), 0U);
  EXPECT_TRUE(arrived() && arrived());
}

TEST_F(SharedTransportTest, KnowsWhoHasLeftAndWhatWasNoted) {
  connect();
  NodeWatch& here = *compute->node_watch();
  NodeWatch& there = *server->node_watch();
  EXPECT_FALSE(here.servers_are_gone());
  EXPECT_FALSE(there.compute_ranks_are_gone());
  EXPECT_FALSE(there.is_given_up());
  EXPECT_FALSE(here.lost(true).has_value());
  there.write_note(7);
  EXPECT_TRUE(here.has_note(7));
  EXPECT_FALSE(here.has_note(8));
  there.leave();
  EXPECT_TRUE(here.servers_are_gone());
  here.leave();
  EXPECT_TRUE(there.compute_ranks_are_gone());
}

TEST_F(SharedTransportTest, KeepsNoNotesBesideOtherNodes) {
  connect({.is_whole_session = false});
  server->node_watch()->write_note(7);
  EXPECT_FALSE(compute->node_watch()->has_notes());
  EXPECT_FALSE(compute->node_watch()->has_note(7));
}

// Waits as servers and compute ranks do.
template <typename Look>
void wait_until(SharedTransport& transport, Look done) {
  while (!done()) {
    const auto word = transport.watch();
    if (!done() && word) {
      futex_wait(*word, std::chrono::seconds{30});
    }
    transport.unwatch();
  }
}

TEST_F(SharedTransportTest, WakesASleepingReceiverAndItsSender) {
  connect({.spin = std::chrono::microseconds{5}});
  constexpr int rounds = 2000;
  std::thread serving{[&] {
    Bytes got(3000);
    for (int i = 0; i < rounds; ++i) {
      bool came = false;
      wait_until(*server, [&] {
        server->progress();
        came = came || server->poll().has_value();
        return came;
      });
      server->fetch(10, got);
      server->give_credit(10);
      EXPECT_EQ(got[5], static_cast<std::byte>(i));
    }
  }};
  Bytes bulk(3000);
  for (int i = 0; i < rounds; ++i) {
    bulk[5] = static_cast<std::byte>(i);
    const PostId post = compute->post(11, pattern(100), bulk, bulk.size());
    wait_until(*compute, [&] {
      compute->progress();
      return compute->is_taken(post);
    });
  }
  serving.join();
}

TEST(NodePlan, GivesEveryPairPartsOfItsOwn) {
  const NodePlan plan{{false, true, false, true, false}};
  EXPECT_EQ(plan.rings(), 2U * 3 * 2 + 2);
  std::vector<std::pair<std::size_t, std::size_t>> parts;  // begin, end
  for (std::size_t from = 0; from < 5; ++from) {
    parts.emplace_back(plan.bell(from), plan.bell_bits(from));
    parts.emplace_back(plan.bell_bits(from), plan.bell_bits(from) + 8);
    for (std::size_t to = 0; to < 5; ++to) {
      EXPECT_EQ(plan.talk(from, to), from != to && (from % 2 == 1 || to % 2 == 1));
      if (plan.talk(from, to)) {
        parts.emplace_back(plan.ring_ends(from, to), plan.ring_ends(from, to) + 192);
        parts.emplace_back(plan.ring_memory(from, to),
                           plan.ring_memory(from, to) + plan.ring_bytes());
      }
    }
  }
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LE(parts[i - 1].second, parts[i].first);
  }
  EXPECT_LE(parts.back().second, plan.bytes());
}

TEST(NodePlan, StaysSmallOnFullNodes) {
  std::vector<bool> serves(40, false);
  std::fill_n(serves.begin(), 8, true);
  EXPECT_LE(NodePlan{serves}.bytes(), std::size_t{17} << 20);
  serves.assign(256, false);
  std::fill_n(serves.begin(), 128, true);
  EXPECT_LE(NodePlan{serves}.bytes(), std::size_t{120} << 20);
}

}  // namespace
}  // namespace iocomp::transport
