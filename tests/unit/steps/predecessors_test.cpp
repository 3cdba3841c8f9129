// SPDX-License-Identifier: BSD-3-Clause
#include "steps/predecessors.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/error.h"

namespace iocomp::steps {
namespace {

constexpr std::uint64_t file = 7;
const Outcome is_full{ErrorCode::storage_failure, "no room"};
const std::optional<Outcome> is_open = std::nullopt;
const std::optional<Outcome> is_committed = Outcome{};

TEST(Predecessors, OfSeveralMembersTheMostStepsCountAndTheFirstFailure) {
  Predecessors sum{{1, "f", 3}, {2, "g", 1}};
  add(sum, {{2, "g", 4, is_full}, {1, "f", 2}, {3, "h", 1}});
  EXPECT_EQ(sum, (Predecessors{{1, "f", 3}, {2, "g", 4, is_full}, {3, "h", 1}}));
}

TEST(Progress, StepsOfAFileOfWhichNothingWasHeardAreOpen) {
  EXPECT_EQ(Progress{}.verdict({file, "f", 1}), is_open);
}

TEST(Progress, AVerdictComesWithTheLastOfTheSteps) {
  Progress progress;
  progress.settled(file, 0, {});
  EXPECT_EQ(progress.verdict({file, "f", 1}), is_committed);
  EXPECT_EQ(progress.verdict({file, "f", 2}), is_open);
  progress.settled(file, 1, {});
  EXPECT_EQ(progress.verdict({file, "f", 2}), is_committed);
}

TEST(Progress, AStepThatFailedConcernsThoseBehindIt) {
  Progress progress;
  progress.settled(file, 0, {});
  progress.settled(file, 1, is_full);
  progress.settled(file, 2, {});
  EXPECT_EQ(progress.verdict({file, "f", 1}), is_committed);
  EXPECT_EQ(progress.verdict({file, "f", 2}), is_full);
  EXPECT_EQ(progress.verdict({file, "f", 3}), is_full);
}

TEST(Progress, TheFirstFailureIsKept) {
  Progress progress;
  progress.lost(file, 4, {ErrorCode::mpi_failure, "later"});
  progress.lost(file, 2, is_full);
  progress.lost(file, 3, {ErrorCode::mpi_failure, "in between"});
  EXPECT_EQ(progress.standing(file).failed_from, 2);
  EXPECT_EQ(progress.standing(file).failure, is_full);
}

TEST(Progress, AllStepsOfAFileThatIsClosedAreCommittedButThoseThatFailed) {
  Progress progress;
  progress.closed(file);
  EXPECT_EQ(progress.verdict({file, "f", 9}), is_committed);
  progress.settled(8, 1, is_full);
  progress.closed(8);
  EXPECT_EQ(progress.verdict({8, "g", 1}), is_committed);
  EXPECT_EQ(progress.verdict({8, "g", 2}), is_full);
}

TEST(Progress, WhoKnowsThatStepsAreNeverCommittedIsBelieved) {
  Progress progress;
  progress.closed(file);
  EXPECT_EQ(progress.verdict({file, "f", 1, is_full}), is_full);
}

TEST(Progress, WhatAFileStillWaitsForIsToldInWords) {
  Progress progress;
  EXPECT_EQ(progress.owed_before(file), "");
  progress.follows(file, {{8, "g", 3}, {9, "h", 1}});
  progress.settled(8, 0, {});
  progress.settled(9, 0, {});
  EXPECT_EQ(progress.owed_before(file),
            "; it comes after 3 steps of file \"g\", of which 1 have settled");
  progress.settled(8, 2, {});
  EXPECT_EQ(progress.owed_before(file), "");
}

TEST(Progress, ItsVersionChangesWithAllThatIsHeard) {
  Progress progress;
  const auto before = progress.version();
  progress.heard(file, {.settled = 3});
  EXPECT_NE(progress.version(), before);
  EXPECT_EQ(progress.verdict({file, "f", 3}), is_committed);
}

}  // namespace
}  // namespace iocomp::steps
