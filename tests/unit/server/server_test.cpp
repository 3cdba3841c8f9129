// SPDX-License-Identifier: BSD-3-Clause
#include "server/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "contents/catalogue.h"
#include "one_server.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "staging/arena.h"

namespace iocomp::server {
namespace {

using protocol::Kind;

/// The whole loop, with one compute rank that has said all at once.
class AServer : public OneServer {
 protected:
  static constexpr int client = 1;
  static constexpr std::size_t staging_bytes = std::size_t{512} << 10;
  static constexpr std::int64_t piece_bytes = 16 << 10;  // of those that go from the home alone
  static constexpr int pieces = 64;                      // more than there is memory for

  /// It does not wait for ever.
  class Patient : public Wire {
   public:
    bool progress() override {
      if (std::chrono::steady_clock::now() > end_) {
        throw std::runtime_error{"the server does not end"};
      }
      return false;
    }

   private:
    std::chrono::steady_clock::time_point end_ =
        std::chrono::steady_clock::now() + std::chrono::seconds{20};
  };

  void say(protocol::Bytes message) { wire_.inbox.push_back({client, std::move(message)}); }
  /// Opens a file and writes a step of one variable.
  void say_all_of_a_step() {
    protocol::Open open;
    open.name = "out";
    open.kind = 1;
    open.members = open.home_members = 1;
    open.beginning.folder = OpenFolder{folder_ / ""}.address();
    say(protocol::encode(key, Kind::open, open));
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.type = array::ElementType::uint8;
    event.shape = {1, {pieces * piece_bytes}};
    say(protocol::encode(key, Kind::event, protocol::Event{0, 0, contents::encode(event)}));
    events_ = 1;
    for (std::int64_t i = 0; i < pieces; ++i) {
      say(protocol::encode(key, Kind::piece, piece(client, 0, i * piece_bytes, piece_bytes)));
    }
    say(protocol::encode(
        key, Kind::end_step,
        protocol::StepCounts{.step = 0,
                             .events = 1,
                             .members = 1,
                             .pieces = {{0, pieces}},
                             .variables = {{0, array::cover_of_all(event.shape)}}}));
  }
  void say_goodbye() {
    say(protocol::encode(key, Kind::close,
                         protocol::StepCounts{.step = 1, .events = 1, .members = 1}));
    say(protocol::message(Kind::bye, 0, {}));
  }
  /// @param more  settings, as TOML.
  Server::End serve(const std::string& more = {}, bool is_terminated = false,
                    bool clients_outlive_signal = false) {
    settings_ = config::Settings::read("files.out.path = \"" + (folder_ / "out.bin") + "\"\n" +
                                       "files.out.backend = \"posix\"\n" + more);
    Place here = place();
    here.clients = {{client, 0}};
    here.client_counts = {1};
    here.staging_bytes = staging_bytes;
    here.is_terminated = [is_terminated] { return is_terminated; };
    here.clients_outlive_signal = clients_outlive_signal;
    Server server{settings_, context_.policy, disk_, std::move(here), wire_};
    const auto end = server.serve();
    EXPECT_FALSE(server.had_failures());
    return end;
  }
  void expect_the_step() const {
    EXPECT_EQ(text_of(folder_ / "out.bin"),
              std::string(static_cast<std::size_t>(pieces * piece_bytes), '\5'));
    EXPECT_EQ(wire_.credits.at(client), static_cast<int>(credits_));
  }

  Patient wire_;
  std::size_t credits_ = 0;
};

TEST_F(AServer, WritesAndCommitsWhatItsRanksPutAndLeavesWithThem) {
  say_all_of_a_step();
  say_goodbye();
  credits_ = wire_.inbox.size();
  EXPECT_EQ(serve(), Server::End::all_left);
  expect_the_step();
  EXPECT_EQ(wire_.bodies(client, Kind::opened).size(), 1U);
  EXPECT_EQ(wire_.bodies(client, Kind::closed).size(), 1U);
  EXPECT_EQ(wire_.bodies(client, Kind::farewell).size(), 1U);
}

TEST_F(AServer, ReadsBackWhatItHasSpilled) {
  say_all_of_a_step();
  say_goodbye();
  credits_ = wire_.inbox.size();
  EXPECT_EQ(serve("files.out.when_full = \"spill\"\nstaging.spill = \"" + folder_ / "" + "\"\n"),
            Server::End::all_left);
  expect_the_step();
  const auto counted =
      protocol::decode<protocol::Counters>(wire_.bodies(client, Kind::farewell).at(0));
  EXPECT_GT(counted.at(static_cast<std::size_t>(trace::Counter::spilled_bytes)), 0);
}

// The compute ranks have ended with it, and nobody says goodbye.
TEST_F(AServer, FinishesWhatItsRanksHaveEndedWhenTheSignalComes) {
  say_all_of_a_step();
  credits_ = wire_.inbox.size();
  EXPECT_EQ(serve("stop.grace = \"200 ms\"\n", true), Server::End::terminated);
  expect_the_step();
  EXPECT_TRUE(wire_.bodies(client, Kind::farewell).empty());
}

TEST_F(AServer, ServesOnAfterTheSignalWhereItsRanksGoOn) {
  say_all_of_a_step();
  say_goodbye();
  credits_ = wire_.inbox.size();
  EXPECT_EQ(serve("stop.grace = \"0 s\"\n", true, true), Server::End::all_left);
  expect_the_step();
}

}  // namespace
}  // namespace iocomp::server
