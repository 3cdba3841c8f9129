// SPDX-License-Identifier: BSD-3-Clause
#include "server/home.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "contents/catalogue.h"
#include "one_server.h"
#include "protocol/header.h"
#include "protocol/messages.h"

namespace iocomp::server {
namespace {

using protocol::Kind;

class AHome : public OneServer {
 protected:
  explicit AHome(int servers = 1) : OneServer{servers} {}
  [[nodiscard]] static protocol::Open opened_by(int compute_rank) {
    protocol::Open open;
    open.name = "out";
    open.opener = compute_rank;
    open.members = 2;
    open.home_members = 2;
    return open;
  }
  [[nodiscard]] static protocol::Event definition(const std::string& name) {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = name;
    return {0, 1, contents::encode(event)};
  }
  /// The messages of a kind that have gone to the lead.
  [[nodiscard]] std::vector<protocol::Bytes> passed(Kind kind) const {
    std::vector<protocol::Bytes> found;
    for (const auto& message : passed_) {
      if (protocol::check_header(message, 0).kind == kind) {
        const auto body = protocol::body(message);
        found.emplace_back(body.begin(), body.end());
      }
    }
    return found;
  }

  std::vector<protocol::Bytes> passed_;
  HomeFile home_{context_, key,
                 [this](protocol::Bytes message) { passed_.push_back(std::move(message)); }};
};

TEST_F(AHome, JoinsWhatItsMembersReport) {
  home_.open(1, opened_by(0));
  home_.open(2, opened_by(1));
  EXPECT_EQ(passed(Kind::home_open).size(), 1U);
  home_.event(1, definition("u"));
  home_.event(2, definition("u"));
  EXPECT_EQ(passed(Kind::home_event).size(), 1U);
  home_.end_step(1, {0, 1, 1, {}, {}});
  EXPECT_TRUE(passed(Kind::home_step).empty());
  home_.end_step(2, {0, 1, 1, {}, {}});
  const auto ended = passed(Kind::home_step);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(protocol::decode<protocol::StepCounts>(ended[0]).members, 2);
  EXPECT_TRUE(passed(Kind::home_failed).empty());
}

// They were killed. What they have ended counts.
TEST_F(AHome, AMemberThatHasLeftHasClosedTheFileWhereItWas) {
  for (const int client : {1, 2}) {
    home_.open(client, opened_by(client - 1));
  }
  for (const std::int64_t step : {0, 1}) {
    for (const int client : {1, 2}) {
      home_.end_step(client, {step, 3, 1, {}, {}});
    }
  }
  home_.left(1);
  EXPECT_TRUE(passed(Kind::home_close).empty());
  home_.left(2);
  home_.left(2);
  const auto closed = passed(Kind::home_close);
  ASSERT_EQ(closed.size(), 1U);
  const auto counts = protocol::decode<protocol::StepCounts>(closed[0]);
  EXPECT_EQ(counts.step, 2);
  EXPECT_EQ(counts.events, 3);
  EXPECT_EQ(counts.members, 2);
  EXPECT_TRUE(passed(Kind::home_failed).empty());
}

TEST_F(AHome, TellsOfAMemberThatHasLeftWithoutOpeningTheFile) {
  home_.known(opened_by(0));
  home_.left(2);
  const auto failed = passed(Kind::home_failed);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_NE(protocol::decode<protocol::StepNote>(failed[0]).outcome.story.find(
                "compute rank 1 called finalize, and has not opened the file"),
            std::string::npos);
}

TEST_F(AHome, DoesNotMissWhoeverHasClosedTheFile) {
  for (const int client : {1, 2}) {
    home_.open(client, opened_by(client - 1));
  }
  for (const int client : {1, 2}) {
    home_.close(client, {0, 0, 1, {}, {}});
    home_.left(client);
  }
  EXPECT_TRUE(passed(Kind::home_failed).empty());
}

/// A home above another, with one member each.
class AHomeAboveAnother : public AHome {
 protected:
  AHomeAboveAnother() : AHome{2} {
    context_.place.client_counts = {1, 1};
    home_.open(1, opened_by(0));
    home_.report(Kind::home_open, 1, body(protocol::encode(key, Kind::home_open, opened_by(1))));
  }
  static protocol::Bytes body(const protocol::Bytes& message) {
    const auto found = protocol::body(message);
    return {found.begin(), found.end()};
  }
  static protocol::Bytes body(const protocol::Event& event) {
    return body(protocol::encode(key, Kind::home_event, event));
  }
};

TEST_F(AHomeAboveAnother, JoinsWhatComesFromBelowWithWhatItsOwnMembersReport) {
  EXPECT_EQ(passed(Kind::home_open).size(), 1U);
  home_.report(Kind::home_event, 1, body(definition("u")));
  EXPECT_EQ(passed(Kind::home_event).size(), 1U);
  home_.event(1, definition("u"));
  EXPECT_EQ(passed(Kind::home_event).size(), 1U);
  home_.report(Kind::home_step, 1,
               body(protocol::encode(key, Kind::home_step, protocol::StepCounts{0, 1, 1, {}, {}})));
  EXPECT_TRUE(passed(Kind::home_step).empty());
  home_.end_step(1, {0, 1, 1, {}, {}});
  EXPECT_EQ(passed(Kind::home_step).size(), 1U);
  home_.close(1, {1, 1, 1, {}, {}});
  EXPECT_TRUE(passed(Kind::home_close).empty());
  home_.report(
      Kind::home_close, 1,
      body(protocol::encode(key, Kind::home_close, protocol::StepCounts{1, 1, 1, {}, {}})));
  EXPECT_EQ(passed(Kind::home_close).size(), 1U);
  EXPECT_TRUE(passed(Kind::home_failed).empty());
}

TEST_F(AHomeAboveAnother, TellsOfOtherDefinitionsBelow) {
  home_.event(1, definition("u"));
  home_.report(Kind::home_event, 1, body(definition("other")));
  EXPECT_EQ(passed(Kind::home_failed).size(), 1U);
}

}  // namespace
}  // namespace iocomp::server
