// SPDX-License-Identifier: BSD-3-Clause
#include "steps/covers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace iocomp::steps {
namespace {

std::vector<std::int32_t> numbers(const Covers& covers) {
  std::vector<std::int32_t> all;
  for (const auto& [variable, cover] : covers) {
    all.push_back(variable);
  }
  return all;
}

TEST(Covers, AreInOrderWhateverOrderTheyCameIn) {
  Covers covers;
  for (const std::int32_t variable : {3, 1, 7, 1, 5, 7}) {
    covers.add(variable, {1, 10});
  }
  EXPECT_EQ(numbers(covers), (std::vector<std::int32_t>{1, 3, 5, 7}));
  EXPECT_EQ(covers.at(1).elements, 2U);
  EXPECT_EQ(covers.at(3).elements, 1U);
  EXPECT_EQ(covers.at(7).elements, 2U);
  EXPECT_THROW((void)covers.at(4), std::out_of_range);
}

TEST(Covers, OfOthersAreAddedVariableByVariable) {
  Covers covers{{1, {1, 10}}, {4, {2, 20}}, {6, {3, 30}}};
  covers.add({{0, {5, 50}}, {4, {7, 70}}, {5, {8, 80}}, {9, {9, 90}}});
  EXPECT_EQ(
      covers,
      (Covers{{0, {5, 50}}, {1, {1, 10}}, {4, {9, 90}}, {5, {8, 80}}, {6, {3, 30}}, {9, {9, 90}}}));
}

}  // namespace
}  // namespace iocomp::steps
