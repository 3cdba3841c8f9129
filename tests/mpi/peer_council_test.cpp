// SPDX-License-Identifier: BSD-3-Clause
#include "client/council/peer_council.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi/agree.h"
#include "mpi/error.h"
#include "mpi/handle.h"
#include "mpi/wait.h"

namespace iocomp::client {
namespace {

using Message = PeerCouncil::Message;

class OfWidth : public testing::TestWithParam<int> {
 protected:
  OfWidth() { mpi::check(MPI_Comm_size(comm_.raw(), &ranks_)); }

  [[nodiscard]] PeerCouncil::Setup setup() const {
    return {.comm = comm_.raw(), .ranks = {}, .tag = 7, .width = GetParam()};
  }
  static Message message(int value) { return Message(3, static_cast<std::byte>(value)); }
  static PeerCouncil::Received next(PeerCouncil& council) {
    mpi::Nap nap;
    while (true) {
      if (auto received = council.take()) {
        return *received;
      }
      nap.pause();
    }
  }
  static void leave(PeerCouncil& council) {
    council.leave();
    mpi::Nap nap;
    while (!council.have_all_left()) {
      nap.pause();
    }
  }
  // Until nobody needs this rank to pass anything on.
  void meet(PeerCouncil& council) const {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Ibarrier(comm_.raw(), &request));
    int done = 0;
    while (done == 0) {
      EXPECT_FALSE(council.take());
      mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
    leave(council);
  }

  mpi::Communicator comm_ = mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
  int ranks_ = 1;
};

TEST_P(OfWidth, OrdersComeToAllInTheirOrder) {
  PeerCouncil council{setup()};
  if (council.member() == 0) {
    council.to_all(message(1));
    std::vector<Message> messages;
    for (int writer = 0; writer < council.writers(); ++writer) {
      messages.push_back(message(10 + writer / 2));
    }
    council.to_each(std::move(messages));
    council.to_all(message(2));
  }
  for (const int value : {1, 10 + council.member() / 2, 2}) {
    const auto received = next(council);
    EXPECT_TRUE(received.is_order);
    EXPECT_EQ(received.message, message(value));
  }
  meet(council);
}

TEST_P(OfWidth, ReportsComeToTheMemberAbove) {
  PeerCouncil council{setup()};
  int heard = 1;  // this one
  std::vector<int> from;
  while (heard < council.members_from_here()) {
    const auto received = next(council);
    EXPECT_FALSE(received.is_order);
    heard += static_cast<int>(received.message.at(0));
    from.push_back(received.from);
  }
  EXPECT_LE(from.size(), static_cast<std::size_t>(GetParam()));
  EXPECT_TRUE(std::ranges::all_of(from, [&](int one) { return one > council.member(); }));
  EXPECT_EQ(heard, council.members_from_here());
  if (council.member() == 0) {
    EXPECT_EQ(heard, ranks_);
  } else {
    council.report(message(heard));
  }
  meet(council);
}

TEST_P(OfWidth, MembersMayBeSomeRanksInAnotherOrder) {
  auto some = setup();
  for (int rank = ranks_ - 1; rank >= 0; rank -= 2) {
    some.ranks.push_back(rank);
  }
  int rank = 0;
  mpi::check(MPI_Comm_rank(comm_.raw(), &rank));
  if (std::ranges::find(some.ranks, rank) != some.ranks.end()) {
    PeerCouncil council{some};
    EXPECT_EQ(some.ranks.at(static_cast<std::size_t>(council.member())), rank);
    if (council.member() == 0) {
      council.to_all(message(5));
    }
    EXPECT_EQ(next(council).message, message(5));
    leave(council);
  }
  mpi::check(MPI_Barrier(comm_.raw()));
}

TEST_P(OfWidth, WhatNobodyTakesIsGoneWhenAllHaveLeft) {
  for (int session = 0; session < 20; ++session) {  // the MPI gives communicators the same numbers
    const mpi::Communicator own =
        mpi::duplicate(MPI_COMM_WORLD, mpi::WaitPolicy{0}, "the other ranks");
    auto with_own = setup();
    with_own.comm = own.raw();
    PeerCouncil council{with_own};
    for (int report = 0; council.member() != 0 && report < 3; ++report) {
      council.report(message(report));
    }
    leave(council);
  }
}

INSTANTIATE_TEST_SUITE_P(PeerCouncil, OfWidth, testing::Values(1, 2, 32));

}  // namespace
}  // namespace iocomp::client
