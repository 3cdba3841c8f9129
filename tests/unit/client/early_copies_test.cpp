// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/early_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace iocomp::client {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counted(std::size_t bytes) {
  Bytes memory(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    memory[i] = static_cast<std::byte>(i % 251 + 1);
  }
  return memory;
}

// The front that is said to be there is there, and nothing else.
void expect_front(const Bytes& from, const Bytes& to, std::size_t done) {
  ASSERT_LE(done, from.size());
  EXPECT_TRUE(std::ranges::equal(std::span{from}.first(done), std::span{to}.first(done)));
  EXPECT_TRUE(std::ranges::all_of(std::span{to}.subspan(done),
                                  [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(EarlyCopies, StopsWhereItIs) {
  EarlyCopies copies;
  const Bytes from = counted(std::size_t{24} << 20);
  for (int turn = 0; turn < 20; ++turn) {
    Bytes to(from.size());
    copies.begin(from, to.data());
    if (turn % 2 == 1) {
      std::this_thread::yield();
    }
    expect_front(from, to, copies.end(to.data()));
  }
}

// The thread gets what time is left, which may be little on a busy machine.
TEST(EarlyCopies, CopiesOneAfterTheOther) {
  EarlyCopies copies;
  const Bytes from = counted((std::size_t{3} << 20) + 17);
  std::size_t done = 0;
  for (int tries = 0; tries < 1000 && done == 0; ++tries) {
    std::vector<Bytes> all(4, Bytes(from.size()));
    for (Bytes& to : all) {
      copies.begin(from, to.data());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    for (const Bytes& to : all) {
      const std::size_t bytes = copies.end(to.data());
      expect_front(from, to, bytes);
      done += bytes;
    }
  }
  EXPECT_GT(done, 0U);
}

TEST(EarlyCopies, KnowsNothingOfOtherMemory) {
  EarlyCopies copies;
  Bytes to(8);
  EXPECT_EQ(copies.end(to.data()), 0U);
  const Bytes from = counted(8);
  copies.begin(from, to.data());
  (void)copies.end(to.data());
  EXPECT_EQ(copies.end(to.data()), 0U);
}

TEST(EarlyCopies, EndsWhileThereIsMore) {
  const Bytes from = counted(std::size_t{8} << 20);
  Bytes to(from.size());
  EarlyCopies copies;
  copies.begin(from, to.data());
}

}  // namespace
}  // namespace iocomp::client
