// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/early_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/worker.h"
#include "client/tickets.h"

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

class AnEarlyCopy : public testing::Test {
 protected:
  [[nodiscard]] EarlyCopy copy(const Bytes& from, Bytes& to) {
    return {thread_, from, Copy{Copy{}, to.data()}};
  }

  std::shared_ptr<Worker> thread_ = std::make_shared<Worker>("copies");
};

TEST_F(AnEarlyCopy, StopsWhereItIs) {
  const Bytes from = counted(std::size_t{24} << 20);
  for (int turn = 0; turn < 20; ++turn) {
    Bytes to(from.size());
    EarlyCopy copied = copy(from, to);
    if (turn % 2 == 1) {
      std::this_thread::yield();
    }
    expect_front(from, to, copied.end());
  }
}

// The thread gets what time is left, which may be little on a busy machine.
TEST_F(AnEarlyCopy, GoesOnAfterTheOneBefore) {
  const Bytes from = counted((std::size_t{3} << 20) + 17);
  std::size_t done = 0;
  for (int tries = 0; tries < 1000 && done == 0; ++tries) {
    std::vector<Bytes> all(4, Bytes(from.size()));
    std::list<EarlyCopy> copies;
    for (Bytes& to : all) {
      copies.emplace_back(thread_, from, Copy{Copy{}, to.data()});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    auto to = all.begin();
    for (EarlyCopy& copied : copies) {
      const std::size_t bytes = copied.end();
      expect_front(from, *to++, bytes);
      done += bytes;
    }
  }
  EXPECT_GT(done, 0U);
}

TEST_F(AnEarlyCopy, EndsOnce) {
  const Bytes from = counted(8);
  Bytes to(8);
  EarlyCopy copied = copy(from, to);
  (void)copied.end();
  EXPECT_EQ(copied.end(), 0U);
}

TEST_F(AnEarlyCopy, EndsWhileThereIsMore) {
  const Bytes from = counted(std::size_t{8} << 20);
  Bytes to(from.size());
  const EarlyCopy copied = copy(from, to);
}

}  // namespace
}  // namespace iocomp::client
