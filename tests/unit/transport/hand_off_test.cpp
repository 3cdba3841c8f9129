// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <thread>

#include "base/futex.h"
#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/doorbell.h"

namespace iocomp::transport {
namespace {

constexpr std::size_t ring_bytes = 256;
// Long enough that a wake-up which was lost fails the test instead of being slept over.
constexpr std::chrono::seconds too_long{30};

struct Node {
  RingEnds<Atomics> ends;
  std::array<BellState<Atomics>, 2> states;
  std::array<std::array<BellBits<Atomics>, 1>, 2> bits;
  std::array<std::byte, ring_bytes> memory;

  ByteRing<Atomics> ring() { return {ends, memory.data(), ring_bytes}; }
  Doorbell<Atomics> bell(std::size_t number) { return {states[number], bits[number]}; }
};

template <typename Look>
bool sleep_until(Doorbell<Atomics>& bell, Look look) {
  if (look()) {
    return true;
  }
  const FutexWord word{&bell.word(), bell.watch()};
  const bool found = look();
  const auto begin = std::chrono::steady_clock::now();
  if (!found) {
    futex_wait(word, too_long);
  }
  bell.unwatch();
  return found || std::chrono::steady_clock::now() - begin < too_long;
}

bool produce(Node& node, std::uint64_t records) {
  auto ring = node.ring();
  auto own = node.bell(0);
  auto other = node.bell(1);
  for (std::uint64_t record = 0; record < records; ++record) {
    std::array<std::byte, sizeof record> bytes{};
    std::memcpy(bytes.data(), &record, sizeof record);
    std::span<const std::byte> left{bytes};
    const auto push = [&] {
      const std::size_t written = ring.write(left);
      left = left.subspan(written);
      if (written > 0) {
        other.ring(0);
      }
    };
    push();
    while (!left.empty()) {
      if (!sleep_until(own, [&] {
            const bool rung = own.take(0) != 0;
            if (rung) {
              push();
            }
            return rung;
          })) {
        return false;
      }
    }
  }
  return true;
}

bool consume(Node& node, std::uint64_t records) {
  auto ring = node.ring();
  auto own = node.bell(1);
  auto other = node.bell(0);
  std::uint64_t expected = 0;
  std::array<std::byte, 8> record{};
  std::size_t have = 0;
  bool right = true;
  while (right && expected < records) {
    const bool woken = sleep_until(own, [&] {
      if (own.take(0) == 0) {
        return false;
      }
      std::size_t count = 0;
      while ((count = ring.read(std::span{record}.subspan(have))) > 0) {
        have += count;
        if (have == record.size()) {
          std::uint64_t got = 0;
          std::memcpy(&got, record.data(), sizeof got);
          right = right && got == expected;
          ++expected;
          have = 0;
        }
      }
      if (ring.is_producer_starved()) {
        other.ring(1);
      }
      return true;
    });
    right = right && woken;
  }
  return right;
}

// 10^6, and 10^7 in the full set of tests.
std::uint64_t hand_offs() {
  const char* const asked = std::getenv("IOCOMP_TEST_HAND_OFFS");
  return asked == nullptr ? 1'000'000 : std::stoull(asked);
}

TEST(HandOff, BringsEveryRecordOnceFromThreadToThread) {
  const auto node = std::make_unique<Node>();
  bool sent = false;
  std::thread producer{[&] { sent = produce(*node, hand_offs()); }};
  EXPECT_TRUE(consume(*node, hand_offs()));
  producer.join();
  EXPECT_TRUE(sent);
}

TEST(HandOff, BringsEveryRecordOnceFromProcessToProcess) {
  void* const memory =
      mmap(nullptr, sizeof(Node), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Node& node = *new (memory) Node;
  const pid_t producer = fork();
  if (producer == 0) {
    _exit(produce(node, hand_offs()) ? 0 : 1);
  }
  EXPECT_TRUE(consume(node, hand_offs()));
  int status = 1;
  EXPECT_EQ(waitpid(producer, &status, 0), producer);
  EXPECT_EQ(status, 0);
  munmap(memory, sizeof(Node));
}

TEST(Doorbell, SpendsNoWakeUpOnWhoIsAwake) {
  Node node{};
  auto bell = node.bell(0);
  EXPECT_FALSE(bell.ring(1));
  const auto seen = bell.watch();
  EXPECT_TRUE(bell.has_rung());
  EXPECT_TRUE(bell.ring(1));
  EXPECT_FALSE(bell.ring(2));  // one has woken it already
  EXPECT_NE(bell.word().load(), seen);
  EXPECT_EQ(bell.take(0), 0b110U);
  EXPECT_FALSE(bell.has_rung());
}

}  // namespace
}  // namespace iocomp::transport
