// SPDX-License-Identifier: BSD-3-Clause
#include "placement/writer_seats.h"

#include <gtest/gtest.h>

#include <vector>

#include "topology/discover.h"

namespace iocomp::placement {
namespace {

TEST(WriterSeats, TakeL3GroupsInTurnAndSiblingsLast) {
  const auto seats = writer_seats(topology::describe("archer2"));
  ASSERT_EQ(seats.size(), 8);
  for (const auto& domain : seats) {
    EXPECT_EQ(domain.size(), 32);
  }
  const std::vector<int> first(seats[0].begin(), seats[0].begin() + 5);
  EXPECT_EQ(first, (std::vector<int>{0, 4, 8, 12, 1}));
  EXPECT_EQ(seats[0][16], 128);  // the sibling of core 0, when all cores have a thread
  EXPECT_EQ(seats[7].front(), 112);
}

TEST(WriterSeats, LeaveOutCpusThatAreNotAllowed) {
  auto node = topology::describe("pack:2 numa:1 core:2 pu:2");
  topology::restrict_to(node, {1, 2});
  EXPECT_EQ(writer_seats(node), (std::vector<std::vector<int>>{{1, 2}, {}}));
}

}  // namespace
}  // namespace iocomp::placement
