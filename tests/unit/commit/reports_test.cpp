// SPDX-License-Identifier: BSD-3-Clause
#include "commit/reports.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "protocol/messages.h"

namespace iocomp::commit {
namespace {

using protocol::Kind;

class OfThreeWriters : public testing::Test {
 protected:
  [[nodiscard]] Kind last() const { return protocol::check_header(passed_.back(), 0).kind; }

  std::vector<protocol::Bytes> passed_;
  Reports reports_{7, 3, [this](protocol::Bytes message) { passed_.push_back(message); }, {}};
};

TEST_F(OfThreeWriters, OneReportTellsThatAllAreDoneAndTheFirstFailure) {
  reports_.note(Kind::step_done, {4, -1, 1, {}});
  reports_.note(Kind::step_done, {5, -1, 1, {}});
  EXPECT_TRUE(passed_.empty());
  reports_.note(Kind::step_done, {4, -1, 2, {ErrorCode::storage_failure, "full"}});
  ASSERT_EQ(passed_.size(), 1U);
  const auto note = protocol::decode<protocol::StepNote>(protocol::body(passed_.back()));
  EXPECT_EQ(last(), Kind::step_done);
  EXPECT_EQ(note.step, 4);
  EXPECT_EQ(note.number, 3);
  EXPECT_EQ(note.outcome.story, "full");
}

TEST_F(OfThreeWriters, ADoneStepCanBeDoneAgain) {  // when what nobody put is filled
  for (int round = 0; round < 2; ++round) {
    reports_.note(Kind::step_done, {4, -1, 3, {}});
  }
  EXPECT_EQ(passed_.size(), 2U);
}

TEST_F(OfThreeWriters, OneReportTellsOfAnAction) {
  protocol::ActionNote note;
  note.number = 1;
  reports_.action_done(note);
  note.outcome = {ErrorCode::storage_failure, "lost"};
  note.writers = 2;
  EXPECT_TRUE(passed_.empty());
  reports_.action_done(note);
  ASSERT_EQ(passed_.size(), 1U);
  const auto told = protocol::decode<protocol::ActionNote>(protocol::body(passed_.back()));
  EXPECT_EQ(told.writers, 3);
  EXPECT_EQ(told.outcome.story, "lost");
}

TEST_F(OfThreeWriters, APlaceIsAskedForOnceUntilTheShapeChanges) {
  reports_.note(Kind::want_place, {2, 1, 0, {}});
  reports_.note(Kind::want_place, {2, 1, 0, {}});
  EXPECT_EQ(passed_.size(), 1U);
  contents::Event event;
  event.what = contents::Event::What::set_shape;
  event.step = 2;
  event.variable = 1;
  event.shape = {4};
  reports_.defined({0, 0, contents::encode(event)});
  reports_.note(Kind::want_place, {2, 1, 0, {}});
  EXPECT_EQ(passed_.size(), 2U);
}

TEST_F(OfThreeWriters, OnlyALaterStepIsHurriedAgain) {
  reports_.note(Kind::flush, {3, -1, 0, {}});
  reports_.note(Kind::flush, {2, -1, 0, {}});
  reports_.note(Kind::flush, {3, -1, 0, {}});
  EXPECT_EQ(passed_.size(), 1U);
  reports_.note(Kind::flush, {4, -1, 0, {}});
  EXPECT_EQ(passed_.size(), 2U);
}

}  // namespace
}  // namespace iocomp::commit
