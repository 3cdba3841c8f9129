// SPDX-License-Identifier: BSD-3-Clause
#include "steps/coordinator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/rules.h"
#include "steps/ended.h"
#include "steps/orders.h"
#include "steps/predecessors.h"

namespace iocomp::steps {
namespace {

const Outcome no_room{ErrorCode::storage_failure, "no room"};

// A file of two members and two writers, whose steps share commits.
class CoordinatorOfTwo : public testing::Test {
 protected:
  template <typename Kind>
  Kind next() {
    const auto order = coordinator_.next_order();
    if (!order || !std::holds_alternative<Kind>(*order)) {
      ADD_FAILURE() << "another order than expected: " << (order ? order->index() : 99);
      return {};
    }
    return std::get<Kind>(*order);
  }
  void expect_nothing() { EXPECT_FALSE(coordinator_.next_order()); }

  void end(std::int64_t step) {
    coordinator_.ended({step, 0, 1, {{0, 1}}, {}}, "a");
    coordinator_.ended({step, 0, 1, {{1, 2}}, {}}, "b");
  }
  void write(std::int64_t step, const Outcome& outcome = {}) {
    coordinator_.done(step, {});
    coordinator_.done(step, outcome);
  }
  void end_and_write(std::int64_t step, const Outcome& outcome = {}) {
    end(step);
    (void)next<Expect>();
    write(step, outcome);
  }
  void close(std::int64_t step) {
    coordinator_.closed({step, 0, 1, {}, {}}, "a");
    coordinator_.closed({step, 0, 1, {}, {}}, "b");
  }

  explicit CoordinatorOfTwo(Coordinator::Setup setup = {.file_name = "f",
                                                        .members = 2,
                                                        .writers = 2,
                                                        .joins_commits = true})
      : coordinator_{std::move(setup), catalogue_, others_} {}

  contents::Catalogue catalogue_{{}, 1, true};
  Progress others_;
  Coordinator coordinator_;
};

TEST_F(CoordinatorOfTwo, TellsEachWriterWhatToExpectWhenAllHaveEnded) {
  coordinator_.ended({0, 0, 1, {{0, 1}, {1, 1}}, {}}, "a");
  expect_nothing();
  coordinator_.ended({0, 0, 1, {{1, 2}}, {}}, "b");
  const auto order = next<Expect>();
  EXPECT_EQ(order.pieces, (std::vector<std::int64_t>{1, 3}));
}

TEST_F(CoordinatorOfTwo, AStepThatAMemberLeavesUnfinishedIsDropped) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.committed({});
  (void)next<Settle>();
  coordinator_.closed({1, 0, 1, {{0, 1}}, {}}, "a");
  coordinator_.closed({.step = 1, .members = 1, .unfinished = 1}, "b");
  (void)next<Expect>();
  write(1);
  EXPECT_EQ(next<Drop>().step, 1);
  coordinator_.dropped();
  EXPECT_EQ(next<Settle>().outcome.story,
            "file \"f\", step 1: a rank has left it unfinished, so it is not committed");
  EXPECT_TRUE(next<Finish>().is_kept);
}

TEST_F(CoordinatorOfTwo, AnUnfinishedStepWithoutPutsIsNone) {
  coordinator_.closed({.step = 0, .members = 2, .unfinished = 2}, "a");
  (void)next<Finish>();
  coordinator_.finished({});
  EXPECT_TRUE(next<Closed>().outcome.ok());
}

TEST_F(CoordinatorOfTwo, CommitsChecksumsByVariableInTheOrderOfTheirBoxes) {
  contents::Event define;
  define.what = contents::Event::What::define;
  define.shape = {1, {4}};
  for (const auto* const name : {"u", "v"}) {
    define.name = name;
    catalogue_.apply(define);
  }
  const auto from = [](std::int64_t start, std::uint64_t checksum) {
    return contents::BlockSum{{.dimensions = 1, .start = {start}, .count = {2}}, checksum};
  };
  const auto cover = [&](std::int64_t start) {
    return array::cover_of(define.shape, from(start, 0).box);
  };
  const auto end_both = [&](std::int64_t step) {
    coordinator_.ended(
        {step, 2, 1, {}, {{0, cover(2)}, {1, cover(0)}}, {{1, from(0, 7)}, {0, from(2, 5)}}}, "a");
    coordinator_.ended({step, 2, 1, {}, {{0, cover(0)}, {1, cover(2)}}, {{0, from(0, 6)}}}, "b");
  };
  end_both(0);
  (void)next<Expect>();
  write(0);
  const auto first = next<Commit>();
  ASSERT_EQ(first.contents.size(), 2U);
  EXPECT_EQ(*first.contents[0].sums, (std::vector{from(0, 6), from(2, 5)}));
  EXPECT_EQ(*first.contents[1].sums, (std::vector{from(0, 7)}));
  coordinator_.committed({});
  (void)next<Settle>();

  end_both(1);
  (void)next<Expect>();
  write(1, no_room);
  (void)next<Drop>();
  coordinator_.dropped();
  (void)next<Settle>();
  coordinator_.ended({2, 2, 1, {}, {{0, cover(0)}}, {}}, "a");
  coordinator_.ended({2, 2, 1, {}, {{0, cover(2)}}, {}}, "b");
  (void)next<Expect>();
  write(2);
  const auto without = next<Commit>();  // also without those of the step that failed
  ASSERT_EQ(without.contents.size(), 1U);
  EXPECT_EQ(without.contents[0].sums, nullptr);
}

TEST_F(CoordinatorOfTwo, TheTimeOfAStepIsFilledWhereNobodyPutsIt) {
  contents::Event define;
  define.what = contents::Event::What::define;
  define.name = contents::time_variable;
  catalogue_.apply(define);
  contents::Event begin;
  begin.what = contents::Event::What::begin_step;
  for (std::int64_t step = 0; step < 2; ++step) {
    begin.step = begin.number = step;
    begin.time = 0.5;
    catalogue_.apply(begin);
  }
  const array::Cover once = array::cover_of_all({});
  const auto end_step = [&](std::int64_t step, bool puts) {
    coordinator_.ended({step, 2, 1, {}, puts ? Covers{{0, once}} : Covers{}}, "a");
    coordinator_.ended({step, 2, 1, {}, {}}, "b");
    EXPECT_TRUE(next<Expect>().report.empty());
    write(step);
  };
  end_step(0, false);
  const auto fill = next<Fill>();
  EXPECT_EQ(fill.holes.at(0)->elements(), 1);
  EXPECT_FALSE(fill.has_values);  // so the lead may have to make the file of the step
  write(0);
  ASSERT_EQ(next<Commit>().contents.size(), 1U);
  coordinator_.committed({});
  (void)next<Settle>();
  end_step(1, true);
  const auto commit = next<Commit>();
  EXPECT_EQ(commit.contents.size(), 1U);
  EXPECT_TRUE(commit.has_values);
}

class CoordinatorOfWholeSteps : public CoordinatorOfTwo {
 protected:
  CoordinatorOfWholeSteps()
      : CoordinatorOfTwo{{.file_name = "f", .members = 2, .writers = 2, .fills_in_turn = true}} {}
};

TEST_F(CoordinatorOfWholeSteps, NothingIsFilledBeforeTheStepsBeforeItAreSettled) {
  contents::Event define;
  define.what = contents::Event::What::define;
  define.name = contents::time_variable;
  catalogue_.apply(define);
  for (std::int64_t step = 0; step < 2; ++step) {
    contents::Event begin;
    begin.what = contents::Event::What::begin_step;
    begin.step = begin.number = step;
    begin.time = 0.5;
    catalogue_.apply(begin);
  }
  for (std::int64_t step = 0; step < 2; ++step) {
    coordinator_.ended({step, 3, 1, {}, {}}, "a");
    coordinator_.ended({step, 3, 1, {}, {}}, "b");
    (void)next<Expect>();
  }
  write(1);
  expect_nothing();
  write(0);
  EXPECT_EQ(next<Fill>().step, 0);
  write(0);
  (void)next<Commit>();
  coordinator_.committed({});
  EXPECT_EQ(next<Settle>().step, 0);
  EXPECT_EQ(next<Fill>().step, 1);
}

TEST_F(CoordinatorOfTwo, CommitsWhatIsDurableEverywhereAndSettlesIt) {
  end(0);
  (void)next<Expect>();
  coordinator_.done(0, {});
  expect_nothing();
  coordinator_.done(0, {});
  EXPECT_EQ(next<Commit>().last, 0);
  expect_nothing();
  coordinator_.committed({});
  EXPECT_TRUE(next<Settle>().outcome.ok());
}

TEST_F(CoordinatorOfTwo, AStepThatIsBeingCommittedDoesNotFailWithTheFile) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.failed(no_room, 0);
  EXPECT_EQ(next<Fail>().from_step, 1);
  coordinator_.committed({});
  EXPECT_TRUE(next<Settle>().outcome.ok());
}

TEST_F(CoordinatorOfTwo, StepsThatCompleteDuringACommitShareTheNext) {
  end_and_write(0);
  (void)next<Commit>();
  end_and_write(1);
  end_and_write(2);
  coordinator_.committed({});
  (void)next<Settle>();
  const auto commit = next<Commit>();
  EXPECT_EQ(commit.first, 1);
  EXPECT_EQ(commit.last, 2);
}

TEST_F(CoordinatorOfTwo, AStepThatFailedIsDroppedAndTheNextCommitted) {
  end_and_write(0, no_room);
  EXPECT_EQ(next<Drop>().step, 0);
  coordinator_.dropped();
  EXPECT_EQ(next<Settle>().outcome.story, "no room");
  end_and_write(1);
  EXPECT_EQ(next<Commit>().first, 1);
}

TEST_F(CoordinatorOfTwo, AnEndThatOnlyOneCallsLeavesTheStepsBeforeIt) {
  end(0);
  (void)next<Expect>();
  coordinator_.ended({1, 0, 1, {}, {}}, "a");
  coordinator_.closed({2, 0, 1, {}, {}}, "a");
  coordinator_.closed({1, 0, 1, {}, {}}, "b");
  const auto fail = next<Fail>();
  EXPECT_EQ(fail.outcome.code, ErrorCode::inconsistent_calls);
  EXPECT_EQ(fail.from_step, 1);
  write(0);
  EXPECT_EQ(next<Commit>().last, 0);
  coordinator_.committed({});
  EXPECT_TRUE(next<Settle>().outcome.ok());
  EXPECT_TRUE(next<Finish>().is_kept);
  coordinator_.finished({});
  EXPECT_EQ(next<Closed>().outcome.code, ErrorCode::inconsistent_calls);
}

TEST_F(CoordinatorOfTwo, AnEndThatOneLeavesToItsCloseDropsThatStepToo) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.committed({});
  (void)next<Settle>();
  coordinator_.closed({2, 0, 1, {}, {}}, "a");  // who joins reports knows that a has ended step 1
  coordinator_.closed({1, 0, 1, {{1, 1}}, {}}, "b");
  EXPECT_EQ(next<Fail>().from_step, 1);
  (void)next<Expect>();
  EXPECT_EQ(next<Drop>().step, 1);
  coordinator_.dropped();
  EXPECT_EQ(next<Settle>().step, 1);
  EXPECT_EQ(next<Drop>().step, 2);
}

TEST_F(CoordinatorOfTwo, AStepThatIsSettledIsNotEndedAgain) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.committed({});
  (void)next<Settle>();
  end(0);
  expect_nothing();
  close(1);
  EXPECT_EQ(next<Finish>().steps, 1);
  expect_nothing();
}

TEST_F(CoordinatorOfTwo, AStepThatIsOnItsWayIsNotEndedAgain) {
  end(0);
  EXPECT_EQ(next<Expect>().pieces, (std::vector<std::int64_t>{1, 2}));
  end(0);
  expect_nothing();
  write(0);
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfTwo, PiecesForAWriterThatIsNotThereAreRefused) {
  coordinator_.ended({0, 0, 1, {{2, 1}}, {}}, "a");
  EXPECT_THROW(coordinator_.ended({0, 0, 1, {}, {}}, "b"), Error);
}

// Else it would drop each of those that nobody has ended, one by one.
TEST_F(CoordinatorOfTwo, AStepThatNobodyCanHaveReachedIsRefused) {
  coordinator_.ended({INT64_MAX, 0, 1, {}, {}}, "a");
  EXPECT_THROW(coordinator_.ended({INT64_MAX, 0, 1, {}, {}}, "b"), Error);
  end_and_write(0);
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfTwo, AFileWithoutStepsIsOneToo) {
  close(0);
  EXPECT_TRUE(next<Finish>().is_kept);
  coordinator_.finished({});
  EXPECT_TRUE(next<Closed>().outcome.ok());
  expect_nothing();
}

TEST_F(CoordinatorOfTwo, AFileOfWhichAllStepsFailedIsNone) {
  end_and_write(0, no_room);
  (void)next<Drop>();
  coordinator_.dropped();
  (void)next<Settle>();
  close(1);
  EXPECT_FALSE(next<Finish>().is_kept);
}

TEST_F(CoordinatorOfTwo, AFailedCommitDropsItsSteps) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.committed(no_room);
  EXPECT_EQ(next<Drop>().step, 0);
}

TEST_F(CoordinatorOfTwo, CommitsThatAreHeldWaitUntilTheyAreReleased) {
  coordinator_.hold_commits(true);
  end_and_write(0);
  expect_nothing();
  coordinator_.hold_commits(false);
  EXPECT_EQ(next<Commit>().last, 0);
}

// Each member has ended another number of steps of the other file: the larger one counts.
TEST_F(CoordinatorOfTwo, AStepIsCommittedAfterTheStepsOfOtherFilesThatComeFirst) {
  coordinator_.ended({.step = 0, .members = 1, .pieces = {{0, 1}}, .predecessors = {{7, "g", 2}}},
                     "a");
  coordinator_.ended({.step = 0, .members = 1, .pieces = {{1, 2}}, .predecessors = {{7, "g", 1}}},
                     "b");
  (void)next<Expect>();
  write(0);
  expect_nothing();
  others_.settled(7, 0, {});
  coordinator_.others_moved();
  expect_nothing();
  others_.settled(7, 1, {});
  coordinator_.others_moved();
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfTwo, AStepThatComesAfterOneThatFailedFailsWithItsStory) {
  coordinator_.ended({.step = 0, .members = 2, .pieces = {{0, 1}}, .predecessors = {{7, "g", 1}}},
                     "a");
  (void)next<Expect>();
  write(0);
  others_.settled(7, 0, {ErrorCode::storage_failure, "file \"g\", step 0: no room"});
  coordinator_.others_moved();
  (void)next<Drop>();
  coordinator_.dropped();
  const auto settled = next<Settle>();
  EXPECT_EQ(settled.outcome.code, ErrorCode::storage_failure);
  EXPECT_EQ(settled.outcome.story,
            "file \"f\", step 0 comes after steps of file \"g\": file \"g\", step 0: no room");
}

TEST_F(CoordinatorOfTwo, AStepThatWaitsForAnotherFileIsNoPartOfACommit) {
  end_and_write(0);
  const auto first = next<Commit>();
  EXPECT_EQ(first.last, 0);
  end_and_write(1);
  coordinator_.ended({.step = 2, .members = 2, .predecessors = {{7, "g", 1}}}, "a");
  (void)next<Expect>();
  write(2);
  coordinator_.committed({});
  (void)next<Settle>();
  EXPECT_EQ(next<Commit>().last, 1);
}

TEST_F(CoordinatorOfTwo, NothingIsHeldWhenAllHaveClosed) {
  coordinator_.hold_commits(true);
  end_and_write(0);
  close(1);
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfTwo, AFailedStepIsNotHeldUpByTheOneBefore) {
  coordinator_.hold_commits(true);
  end_and_write(0);
  expect_nothing();
  end_and_write(1, no_room);
  EXPECT_EQ(next<Commit>().last, 0);
  coordinator_.committed({});
  (void)next<Settle>();
  EXPECT_EQ(next<Drop>().step, 1);
}

TEST_F(CoordinatorOfTwo, TheLastStepsShareOneCommit) {
  coordinator_.hold_commits(true);
  for (const std::int64_t step : {0, 1, 2}) {
    end(step);
    (void)next<Expect>();
  }
  close(3);
  write(0);
  write(1);
  expect_nothing();
  write(2);
  const auto commit = next<Commit>();
  EXPECT_EQ(commit.first, 0);
  EXPECT_EQ(commit.last, 2);
}

TEST_F(CoordinatorOfTwo, AStepThatIsLostDoesNotHoldWhatIsBeforeIt) {
  coordinator_.hold_commits(true);
  end_and_write(0);
  end(1);
  (void)next<Expect>();
  close(2);
  expect_nothing();
  coordinator_.failed(no_room, 1);
  (void)next<Fail>();
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfTwo, ALossOfEarlierStepsIsToldWithItsOwnCause) {
  coordinator_.failed(no_room, 2);
  EXPECT_EQ(next<Fail>().from_step, 2);
  coordinator_.failed({ErrorCode::storage_failure, "broken"}, 3);
  expect_nothing();
  coordinator_.failed({ErrorCode::storage_failure, "broken"}, 1);
  const auto order = next<Fail>();
  EXPECT_EQ(order.from_step, 1);
  EXPECT_EQ(order.outcome.story, "broken (steps from 1 on are not committed)");
}

// It has lost its earlier steps too.
TEST_F(CoordinatorOfTwo, AFileThatCannotBeFinishedTellsThatWhateverWasLostBefore) {
  end_and_write(0);
  (void)next<Commit>();
  coordinator_.committed({});
  (void)next<Settle>();
  coordinator_.failed({ErrorCode::storage_failure, "broken"}, 1);
  (void)next<Fail>();
  close(1);
  EXPECT_TRUE(next<Finish>().has_failed);
  coordinator_.finished(no_room);
  EXPECT_EQ(next<Closed>().outcome.story, "no room");
}

// Members that write themselves report what they have written before anybody asks.
class CoordinatorOfMembers : public CoordinatorOfTwo {
 protected:
  CoordinatorOfMembers()
      : CoordinatorOfTwo{{.file_name = "f", .members = 2, .writers = 2, .asks_writers = false}} {}
};

TEST_F(CoordinatorOfMembers, AWriterMayBeDoneBeforeAllHaveEnded) {
  coordinator_.ended({0, 0, 1, {}, {}}, "a");
  coordinator_.done(0, {});
  expect_nothing();
  coordinator_.done(0, {});
  expect_nothing();
  coordinator_.ended({0, 0, 1, {}, {}}, "b");
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorOfMembers, SeveralWritersMaySpeakTogether) {
  end(0);
  coordinator_.done(0, no_room, 2);
  EXPECT_EQ(next<Drop>().step, 0);
}

TEST_F(CoordinatorOfMembers, AFailureBeforeTheEndIsNotForgotten) {
  coordinator_.done(0, no_room);
  coordinator_.done(0, {});
  end(0);
  EXPECT_EQ(next<Drop>().step, 0);
}

// Members of one node, of whose stripes some have holes: the second half of "u" is put by nobody.
class CoordinatorOfStripes : public CoordinatorOfTwo {
 protected:
  explicit CoordinatorOfStripes(bool fills_gaps = true)
      : CoordinatorOfTwo{{.file_name = "f",
                          .members = 2,
                          .writers = 2,
                          .asks_writers = false,
                          .fills_gaps = fills_gaps}} {
    contents::Event define;
    define.what = contents::Event::What::define;
    define.name = "u";
    define.shape = shape_;
    catalogue_.apply(define);
  }
  void end(std::int64_t step, std::int64_t unclaimed) {
    coordinator_.ended({.step = step,
                        .events = 1,
                        .members = 2,
                        .variables = {{0, array::cover_of(shape_, half_)}},
                        .unclaimed = unclaimed},
                       "a");
    write(step);
  }
  void look(std::int64_t step) {
    const auto asked = next<Expect>();
    EXPECT_EQ(asked.report, std::vector<std::int32_t>{0});
    EXPECT_FALSE(asked.ends_stripes);  // because they may become full
    coordinator_.put(step, {{0, 0, {half_, 0, 2}}});
    write(step);
    const auto order = next<Look>();
    answer(order.questions->front());
    coordinator_.looked(step, *order.questions, {});
  }
  void expect_end_of_stripes(std::int64_t step) {
    const auto asked = next<Expect>();
    EXPECT_TRUE(asked.report.empty());
    EXPECT_TRUE(asked.ends_stripes);
    write(step);
  }
  void commit(std::int64_t step) {
    EXPECT_EQ(next<Commit>().last, step);
    coordinator_.committed({});
    (void)next<Settle>();
  }

  array::Shape shape_{1, {4}};
  array::Box half_{1, {0}, {2}};
};

TEST_F(CoordinatorOfStripes, GapsAreFilledBeforeStripesEnd) {
  for (const std::int64_t step : {0, 1}) {
    end(step, 2);
    if (step == 0) {
      look(step);
    }
    const auto fill = next<Fill>();
    EXPECT_EQ(fill.holes.at(0)->elements(), 2);
    write(step);
    expect_end_of_stripes(step);
    commit(step);
  }
}

TEST_F(CoordinatorOfStripes, GapsAreLeftWhereNoStripeWaits) {
  end(0, 0);
  look(0);
  commit(0);
}

TEST_F(CoordinatorOfStripes, AFailureWhileGapsAreFilledDropsTheStep) {
  end(0, 2);
  look(0);
  (void)next<Fill>();
  write(0, no_room);
  EXPECT_EQ(next<Drop>().step, 0);
}

class CoordinatorOfStripesOfNodes : public CoordinatorOfStripes {
 protected:
  CoordinatorOfStripesOfNodes() : CoordinatorOfStripes{false} {}
};

TEST_F(CoordinatorOfStripesOfNodes, GapsAreLeft) {
  for (const std::int64_t step : {0, 1}) {
    end(step, 2);
    if (step == 0) {
      look(step);
    }
    expect_end_of_stripes(step);
    commit(step);
  }
}

// Written steps are made durable by an order of their own.
class CoordinatorThatSyncsLast : public CoordinatorOfTwo {
 protected:
  CoordinatorThatSyncsLast()
      : CoordinatorOfTwo{{.file_name = "f", .members = 2, .writers = 2, .syncs_last = true}} {}
};

TEST_F(CoordinatorThatSyncsLast, NothingIsCommittedBeforeAllAreDurable) {
  end_and_write(0);
  EXPECT_EQ(next<Sync>().step, 0);
  coordinator_.done(0, {});
  expect_nothing();
  coordinator_.done(0, {});
  EXPECT_EQ(next<Commit>().last, 0);
}

TEST_F(CoordinatorThatSyncsLast, WhatCouldNotBeWrittenIsNotMadeDurable) {
  end_and_write(0, no_room);
  EXPECT_EQ(next<Drop>().step, 0);
}

}  // namespace
}  // namespace iocomp::steps
