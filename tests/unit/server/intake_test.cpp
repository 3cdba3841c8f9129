// SPDX-License-Identifier: BSD-3-Clause
#include "server/intake.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "array/run_list.h"
#include "base/error.h"
#include "config/file_settings.h"
#include "one_server.h"
#include "protocol/messages.h"
#include "staging/arena.h"

namespace iocomp::server {
namespace {

class AnIntake : public OneServer {
 protected:
  using Strings = std::vector<std::string>;
  void take(int client, const protocol::Piece& piece) {
    intake_.take(client, protocol::encode(key, protocol::Kind::piece, piece));
  }
  /// Nothing is left but so much.
  void use_up_memory(std::size_t but = 0) {
    used_ = arena_.try_take(arena_.capacity_bytes() - arena_.used_bytes() - but);
    ASSERT_TRUE(used_);
  }

  std::optional<staging::Lease> used_;
  std::size_t kept_bytes_ = 0;
  Intake intake_{context_, wire_, [this](std::uint64_t) { return file_.get(); },
                 [this] { return kept_bytes_; }};
};

TEST_F(AnIntake, TakesManySmallPiecesInATurn) {
  open();
  for (std::int64_t i = 0; i < 3; ++i) {
    take(1, piece(1, 0, 2 * i * 100, 100));
  }
  EXPECT_FALSE(intake_.is_empty());
  EXPECT_TRUE(intake_.advance());
  EXPECT_TRUE(intake_.is_empty());
  EXPECT_EQ(wire_.credits[1], 3);
  EXPECT_FALSE(intake_.advance());
  finish();
  EXPECT_EQ(told(1), (Strings{"1 written", "2 written", "3 written"}));
}

TEST_F(AnIntake, FetchesOneLargePieceInATurnAndNoMoreThanTwoAtATime) {
  open();
  for (const std::int64_t first : {0, 96 << 10}) {
    take(1, piece(1, 0, first, (80 << 10) - first / 2, 32 << 10));
  }
  wire_.holds_fetches = true;
  for (const std::uint64_t fetches : {1U, 2U, 2U}) {
    EXPECT_EQ(intake_.advance(), wire_.fetches < fetches);
    EXPECT_EQ(wire_.fetches, fetches);
  }
  wire_.holds_fetches = false;
  while (intake_.advance()) {
  }
  EXPECT_TRUE(intake_.is_empty());
  EXPECT_EQ(wire_.fetches, 4U);
  EXPECT_EQ(wire_.credits[1], 2);
  finish();
  EXPECT_EQ(told(1), (Strings{"1 written", "2 written"}));
  EXPECT_EQ(text_of(temporary()).substr(0, 80 << 10), std::string(80 << 10, '\5'));
}

TEST_F(AnIntake, ReadsWhereItLiesWhatItsSenderLends) {
  open();
  wire_.lends = true;
  take(1, piece(1, 0, 0, 96 << 10, 48 << 10));
  EXPECT_TRUE(intake_.advance());
  EXPECT_FALSE(intake_.is_empty());
  EXPECT_TRUE(intake_.advance());
  EXPECT_TRUE(intake_.is_empty());
  EXPECT_EQ(wire_.lent.size(), 2U);
  EXPECT_EQ(wire_.credits[1], 1);
  EXPECT_EQ(arena_.used_bytes(), 0U);
  finish();
  EXPECT_TRUE(wire_.lent.empty());
  EXPECT_EQ(told(1), (Strings{"1 written"}));
  EXPECT_EQ(text_of(temporary()), std::string(96 << 10, '\5'));
}

// They are written at once.
TEST_F(AnIntake, GivesNeighboursOfAVariableMemoryOneBehindTheOther) {
  open();
  for (const std::int32_t variable : {0, 1}) {
    for (const std::int64_t first : {0, 100, 200}) {
      take(1, piece(1, variable, first, 100));
    }
  }
  EXPECT_TRUE(intake_.advance());
  EXPECT_TRUE(intake_.is_empty());
  EXPECT_EQ(arena_.used_bytes(), 2 * page);
  finish();
  EXPECT_EQ(arena_.used_bytes(), 0U);
}

TEST_F(AnIntake, WaitsForMemory) {
  open();
  use_up_memory();
  take(1, piece(1, 0, 0, 100));
  EXPECT_FALSE(intake_.advance());
  EXPECT_TRUE(intake_.is_stuck());
  EXPECT_FALSE(intake_.is_empty());
  used_.reset();
  EXPECT_TRUE(intake_.advance());
  EXPECT_FALSE(intake_.is_stuck());
  EXPECT_TRUE(intake_.is_empty());
  finish();
  EXPECT_EQ(told(1), (Strings{"1 written"}));
}

TEST_F(AnIntake, IsNotStuckSoonWhileAnythingIsOnItsWay) {
  open();
  use_up_memory(32 << 10);
  wire_.holds_fetches = true;
  take(1, piece(1, 0, 0, 32 << 10, 32 << 10));
  EXPECT_TRUE(intake_.advance());
  EXPECT_EQ(wire_.fetches, 1U);
  take(2, piece(2, 0, 64 << 10, 100));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(intake_.advance());
  const bool is_stuck = intake_.is_stuck();
  if (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds{50}) {
    EXPECT_FALSE(is_stuck);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{60});
  EXPECT_FALSE(intake_.advance());
  EXPECT_TRUE(intake_.is_stuck());
}

TEST_F(AnIntake, APieceForWhichThereIsNoMemoryFailsWhereTheFileSaysSo) {
  open(formats::format("posix"), config::WhenFull::fail);
  use_up_memory();
  take(1, piece(1, 0, 0, 100));
  EXPECT_TRUE(intake_.advance());
  EXPECT_TRUE(intake_.is_empty());
  finish();
  EXPECT_EQ(told(1), (Strings{"1 failed"}));
  EXPECT_EQ(wire_.credits[1], 1);
}

// Nothing that is kept for the step becomes free before the step ends.
TEST_F(AnIntake, AStepThatDoesNotFitFailsWhereALibraryWritesItAsAWhole) {
  open(whole_steps_);
  use_up_memory();
  take(1, piece(1, 0, 0, 100));
  EXPECT_FALSE(intake_.advance());  // the memory is not that step's
  kept_bytes_ = arena_.capacity_bytes();
  EXPECT_TRUE(intake_.advance());
  EXPECT_TRUE(intake_.is_empty());
  finish();
  EXPECT_EQ(told(1), (Strings{"1 failed"}));
}

TEST_F(AnIntake, RunsThatNobodyHasAnnouncedAreRefused) {
  open();
  array::RunList runs;
  runs.append({.index = 10, .elements = 100});
  auto listed = piece(1, 0, 0, 100);
  listed.runs = 3;
  EXPECT_THROW(take(1, listed), Error);
  intake_.know_runs(1, 3, std::move(runs));
  EXPECT_THROW(take(2, listed), Error);
  listed.count = 99;
  EXPECT_THROW(take(1, listed), Error);
  listed.count = 100;
  EXPECT_NO_THROW(take(1, listed));
  EXPECT_TRUE(intake_.advance());
  intake_.forget_runs(1, 3);
  EXPECT_THROW(take(1, listed), Error);
  finish();
  EXPECT_EQ(text_of(temporary()).substr(9, 102), '\0' + std::string(100, '\5'));
}

}  // namespace
}  // namespace iocomp::server
