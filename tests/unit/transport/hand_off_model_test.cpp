// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/doorbell.h"
#include "unit/transport/model.h"

namespace iocomp {
namespace {

using Ring = transport::ByteRing<model::Atomics>;
using Bell = transport::Doorbell<model::Atomics>;
using Ends = transport::RingEnds<model::Atomics>;
using BellState = transport::BellState<model::Atomics>;
using BellBits = transport::BellBits<model::Atomics>;

// Two processes, a ring from the first to the second, a doorbell each. Every process makes its own
// views, as in life.
struct Node {
  Ends ends{.written = BellBits{0}, .read = BellBits{1}, .starved = model::Word<std::uint32_t>{2}};
  std::array<BellState, 2> states{
      BellState{model::Word<std::uint32_t>{3}, model::Word<std::uint32_t>{4}},
      BellState{model::Word<std::uint32_t>{5}, model::Word<std::uint32_t>{6}}};
  std::array<std::array<BellBits, 1>, 2> bits{{{BellBits{7}}, {BellBits{8}}}};
  static constexpr std::size_t ring_memory = 9;

  Ring ring(std::size_t capacity) { return Ring{ends, ring_memory, capacity}; }
  Bell bell(std::size_t number) { return Bell{states[number], bits[number]}; }
};

struct Scenario {
  std::size_t records = 3;
  std::size_t record_bytes = 1;
  std::size_t capacity = 2;
  bool looks_twice = true;
};

std::byte value(std::size_t at) { return static_cast<std::byte>(at + 1); }

// A process of the transport waits like this: OwnBell::watch and those who call it.
void sleep_until(Bell& bell, const Scenario& scenario, const std::function<bool()>& look) {
  if (look()) {
    return;
  }
  const auto seen = bell.watch();
  if (!scenario.looks_twice || !look()) {
    model::Atomics::sleep(bell.word(), seen);
  }
  bell.unwatch();
}

void produce(const Scenario& scenario) {
  Node node;
  Ring ring = node.ring(scenario.capacity);
  Bell own = node.bell(0);
  Bell other = node.bell(1);
  const std::size_t total = scenario.records * scenario.record_bytes;
  std::size_t sent = 0;
  std::size_t asked = 0;  // how much the program has given so far
  const auto push = [&] {
    std::vector<std::byte> bytes;
    for (std::size_t i = sent; i < asked; ++i) {
      bytes.push_back(value(i));
    }
    const std::size_t written = ring.write(bytes);
    sent += written;
    if (written > 0) {
      other.ring(0);
    }
  };
  while (asked < total) {
    asked += scenario.record_bytes;
    push();
  }
  while (sent < total) {
    sleep_until(own, scenario, [&] {
      if (own.take(0) == 0) {
        return false;
      }
      push();
      return true;
    });
  }
}

void consume(const Scenario& scenario) {
  Node node;
  Ring ring = node.ring(scenario.capacity);
  Bell own = node.bell(1);
  Bell other = node.bell(0);
  const std::size_t total = scenario.records * scenario.record_bytes;
  std::size_t taken = 0;
  while (taken < total) {
    sleep_until(own, scenario, [&] {
      const auto bits = own.take(0);
      if (bits == 0) {
        return false;
      }
      model::require(bits == 1, "a bell of nobody");
      std::array<std::byte, 4> bytes{};
      std::size_t count = 0;
      while ((count = ring.read(bytes)) > 0) {
        for (std::size_t i = 0; i < count; ++i) {
          model::require(bytes[i] == value(taken), "byte " + std::to_string(taken) + " is wrong");
          ++taken;
        }
      }
      if (ring.is_producer_starved()) {
        other.ring(1);
      }
      return true;
    });
  }
  std::array<std::byte, 1> more{};
  model::require(ring.read(more) == 0, "more came than was sent");
}

model::Verdict check(const Scenario& scenario, const model::Options& options = {}) {
  return model::explore(Node::ring_memory + scenario.capacity,
                        {[&] { produce(scenario); }, [&] { consume(scenario); }}, options);
}

TEST(HandOffModel, LosesNothingAndWakesInAnyOrderOfEvents) {
  const auto verdict = check({});
  EXPECT_EQ(verdict.failure, "");
  EXPECT_GT(verdict.states, 1000U);
  RecordProperty("states", static_cast<int>(verdict.states));
}

TEST(HandOffModel, LosesNothingWhenRecordsAreLongerThanTheRing) {
  EXPECT_EQ(check({.records = 1, .record_bytes = 4}).failure, "");
}

TEST(HandOffModel, LosesNothingWhenTheRingHoldsOneByte) {
  EXPECT_EQ(check({.records = 2, .capacity = 1}).failure, "");
}

TEST(HandOffModel, FindsTheLostWakeUpWithoutFences) {
  EXPECT_NE(check({}, {.with_fences = false}).failure.find("sleeps"), std::string::npos);
}

TEST(HandOffModel, FindsTheLostWakeUpWithoutASecondLook) {
  EXPECT_NE(check({.looks_twice = false}).failure.find("sleeps"), std::string::npos);
}

// Dekker's question, to see that the model's machine has store buffers and that fences drain them.
model::Verdict both_look_after_storing(const model::Options& options) {
  const auto side = [](std::size_t own, std::size_t other, std::size_t saw) {
    return [=] {
      model::Word<std::uint64_t>{own}.store(1, std::memory_order_relaxed);
      model::Atomics::fence();
      const auto seen = model::Word<std::uint64_t>{other}.load(std::memory_order_relaxed);
      model::Word<std::uint64_t>{saw}.exchange(seen + 1, std::memory_order_relaxed);
      const auto theirs = model::Word<std::uint64_t>{saw ^ 1U}.load(std::memory_order_relaxed);
      model::require(seen != 0 || theirs != 1, "nobody saw the other");
    };
  };
  return model::explore(4, {side(0, 1, 2), side(1, 0, 3)}, options);
}

TEST(Model, HasStoreBuffersThatFencesDrain) {
  EXPECT_EQ(both_look_after_storing({}).failure, "");
  EXPECT_EQ(both_look_after_storing({.with_fences = false}).failure, "nobody saw the other");
}

}  // namespace
}  // namespace iocomp
