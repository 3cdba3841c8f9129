// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/servers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/remote/ledger.h"
#include "client/tickets.h"
#include "mpi/peers.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "steps/predecessors.h"
#include "trace/counters.h"
#include "unit/wire.h"

namespace iocomp::client {
namespace {

using protocol::Kind;
using protocol::Notice;

constexpr std::uint64_t told_file = 7;
const Outcome failure{ErrorCode::storage_failure, "no room"};

class ServersOfARank : public testing::Test {
 protected:
  /// Messages come in. @return whether that moves anything.
  bool receive(std::vector<protocol::Bytes> messages) {
    for (auto& message : messages) {
      wire_.inbox.push_back({0, std::move(message)});
    }
    return servers_.receive();
  }
  std::uint64_t put(std::int64_t step) {
    Ticket ticket;
    ticket.file = told_file;
    ticket.step = step;
    ticket.pieces = 1;
    return ledger_.tickets().open(ticket);
  }

  Wire wire_;
  trace::Counters counters_;
  Ledger ledger_{&wire_, counters_};
  steps::Progress progress_;
  Servers servers_{&wire_, mpi::Peers{}, ledger_, progress_};
};

// An answer that a server is there moves nothing that anybody waits for.
TEST_F(ServersOfARank, WhatTheyTellMovesSomething) {
  EXPECT_FALSE(receive({}));
  EXPECT_FALSE(receive({protocol::message(Kind::here, 0, {})}));
  EXPECT_TRUE(receive({protocol::encode(told_file, Kind::opened, protocol::Opened{{}, 4096})}));
  ASSERT_TRUE(servers_.file(told_file).opened);
  EXPECT_EQ(servers_.file(told_file).opened->domain_bytes, 4096);
  EXPECT_TRUE(receive({protocol::encode(told_file, Kind::closed, failure)}));
  ASSERT_TRUE(servers_.file(told_file).closed);
  EXPECT_EQ(servers_.file(told_file).closed->story, failure.story);
  EXPECT_TRUE(receive({protocol::encode(0, Kind::farewell, protocol::Counters{1, 2})}));
  EXPECT_EQ(servers_.farewell(), (std::vector<double>{1, 2}));
  EXPECT_THROW((void)receive({protocol::message(Kind::expect, told_file, {})}), Error);
}

TEST_F(ServersOfARank, CopiesAreKeptUntilTheyAreTaken) {
  servers_.keep_until_taken(std::make_shared<std::byte[]>(1), 1);
  servers_.keep_until_taken(std::make_shared<std::byte[]>(1), 2);
  wire_.taken = 1;
  EXPECT_FALSE(receive({}));
  EXPECT_TRUE(receive({protocol::encode(told_file, Kind::opened, protocol::Opened{})}));
  EXPECT_EQ(servers_.take_copy(1), nullptr);
  EXPECT_NE(servers_.take_copy(2), nullptr);
  EXPECT_FALSE(servers_.have_copies());
}

TEST_F(ServersOfARank, NoticesOfPutsStepsAndFilesAreTakenIn) {
  const auto durable = put(0);
  const auto failed = put(1);
  const auto lost = put(2);
  const auto told = [](Notice::About about, std::uint64_t number, const Outcome& outcome = {}) {
    return Notice{about, told_file, number, outcome};
  };
  EXPECT_TRUE(receive({protocol::encode(
      0, Kind::notices,
      std::vector<Notice>{
          told(Notice::About::written, durable), told(Notice::About::durable, durable),
          told(Notice::About::failed, failed, failure), told(Notice::About::settled, 0),
          told(Notice::About::settled, 1, failure)})}));
  EXPECT_TRUE(ledger_.has_reached(durable, State::durable));
  EXPECT_THROW((void)ledger_.has_reached(failed, State::durable), Error);
  EXPECT_EQ(servers_.file(told_file).settled, 2);
  EXPECT_EQ(servers_.file(told_file).failures.size(), 1U);
  EXPECT_EQ(servers_.file(told_file).failures.at(1).story, failure.story);
  EXPECT_EQ(progress_.standing(told_file).settled, 2);
  EXPECT_EQ(progress_.standing(told_file).failed_from, 1);
  EXPECT_FALSE(ledger_.has_reached(lost, State::durable));
  EXPECT_TRUE(receive({protocol::encode(
      0, Kind::notices, std::vector<Notice>{told(Notice::About::file_failed, 2, failure)})}));
  EXPECT_EQ(servers_.file(told_file).failed_from, 2);
  EXPECT_EQ(servers_.file(told_file).failed.story, failure.story);
  EXPECT_THROW((void)ledger_.has_reached(lost, State::durable), Error);
}

}  // namespace
}  // namespace iocomp::client
