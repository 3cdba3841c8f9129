// SPDX-License-Identifier: BSD-3-Clause
#include "array/byte_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"

namespace iocomp::array {
namespace {

std::vector<std::byte> counting(std::size_t bytes) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    all[i] = static_cast<std::byte>(i * 7 + 1);
  }
  return all;
}

std::vector<std::byte> reversed(std::vector<std::byte> bytes, std::size_t size) {
  for (auto number = bytes.begin(); number != bytes.end();) {
    const auto end = number + static_cast<std::ptrdiff_t>(size);
    std::reverse(number, end);
    number = end;
  }
  return bytes;
}

TEST(ByteOrder, ReversesEveryNumberOfEverySizeAndLength) {
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    for (std::size_t numbers = 0; numbers < 20; ++numbers) {
      const auto from = counting(size * numbers);
      std::vector<std::byte> to(from.size());
      copy_swapped(from, to, size);
      EXPECT_EQ(to, reversed(from, size)) << numbers << " of " << size;
    }
  }
}

TEST(ByteOrder, ReversesWhereTheyLieAtAnyAddress) {
  const auto from = counting(97);
  auto memory = from;
  swap_bytes(std::span{memory}.subspan(1), 4);
  EXPECT_EQ(memory[0], from[0]);
  EXPECT_EQ(std::vector<std::byte>(memory.begin() + 1, memory.end()),
            reversed({from.begin() + 1, from.end()}, 4));
}

TEST(ByteOrder, RefusesNumbersThatAreCutOrOfAnotherSize) {
  std::vector<std::byte> memory(12);
  EXPECT_THROW(swap_bytes(memory, 8), Error);
  EXPECT_THROW(swap_bytes(memory, 3), Error);
  EXPECT_THROW(swap_bytes(memory, 0), Error);
  EXPECT_THROW(copy_swapped(memory, std::span{memory}.first(8), 4), Error);
}

}  // namespace
}  // namespace iocomp::array
