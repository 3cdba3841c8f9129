// SPDX-License-Identifier: BSD-3-Clause
#include "placement/shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace iocomp::placement {
namespace {

TEST(EvenShares, GiveTheOddOnesToEarlierNodes) {
  EXPECT_EQ(even_shares(64, {128, 128, 128}), (std::vector<int>{22, 21, 21}));
}

TEST(EvenShares, FillSmallNodesAndShareTheRest) {
  EXPECT_EQ(even_shares(8, {2, 10}), (std::vector<int>{2, 6}));
  EXPECT_EQ(even_shares(20, {10, 3, 10}), (std::vector<int>{9, 3, 8}));
  EXPECT_EQ(even_shares(5, {0, 5}), (std::vector<int>{0, 5}));
}

TEST(EvenShares, FillEverythingWhenAllIsNeeded) {
  EXPECT_EQ(even_shares(12, {4, 4, 4}), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(even_shares(7, {4, 1, 2}), (std::vector<int>{4, 1, 2}));
  EXPECT_EQ(even_shares(0, {4, 1}), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace iocomp::placement
