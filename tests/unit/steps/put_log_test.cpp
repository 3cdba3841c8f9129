// SPDX-License-Identifier: BSD-3-Clause
#include "steps/put_log.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>

#include "array/box.h"
#include "array/run_list.h"

namespace iocomp::steps {
namespace {

PutRecord block(std::int32_t variable, std::int64_t start) {
  array::Box box;
  box.dimensions = 2;
  box.start = {start, 0};
  box.count = {1, 7};
  PutRecord put{.variable = variable, .rank = 3, .part = {}};
  put.part.region = box;
  put.part.count = 7;
  return put;
}

PutRecord list(std::int32_t variable) {
  array::RunList runs;
  runs.append({.index = 4, .elements = 2});
  PutRecord put{.variable = variable, .rank = 1, .part = {}};
  put.part.region = std::make_shared<const array::RunList>(runs);
  put.part.count = 2;
  return put;
}

TEST(PutLog, ReturnsThePutsOfTheVariablesThatAreAskedFor) {
  PutLog log;
  log.add(block(1, 10));
  log.add(list(2));
  log.add(block(2, 20));
  log.add(block(1, 30));
  constexpr std::array<std::int32_t, 1> one{1};
  const auto blocks = log.of(one);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].part.region.box, block(1, 10).part.region.box);
  EXPECT_EQ(blocks[1].part.region.box.start[0], 30);
  EXPECT_EQ(blocks[1].rank, 3);
  EXPECT_EQ(blocks[1].part.count, 7);
  constexpr std::array<std::int32_t, 2> both{1, 2};
  EXPECT_EQ(log.of(both).size(), 4U);
  constexpr std::array<std::int32_t, 1> other{9};
  EXPECT_TRUE(log.of(other).empty());
}

TEST(PutLog, IsEmptyAfterClear) {
  PutLog log;
  log.add(block(1, 10));
  log.add(list(1));
  log.clear();
  constexpr std::array<std::int32_t, 1> one{1};
  EXPECT_TRUE(log.of(one).empty());
}

}  // namespace
}  // namespace iocomp::steps
