// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "client/tickets.h"
#include "protocol/messages.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

constexpr std::uint64_t file = 7;
const Outcome difference{ErrorCode::inconsistent_calls, "the ranks do not make the same calls"};
const Outcome missing{ErrorCode::storage_failure, "cannot open the file"};

class LedgerTest : public testing::Test {
 protected:
  std::uint64_t put(std::int64_t step) {
    Ticket ticket;
    ticket.file = file;
    ticket.step = step;
    ticket.pieces = 2;
    return ledger_.tickets().open(ticket);
  }
  void commit_until(std::int64_t steps) {
    const Outcome committed;
    ledger_.settled(file, [&](std::int64_t step) { return step < steps ? &committed : nullptr; });
  }
  // The answer to the program about a ticket: ok, or why it failed.
  Outcome ask(std::uint64_t ticket, State state = State::durable) {
    return outcome_of([&] { EXPECT_TRUE(ledger_.has_reached(ticket, state)); });
  }

  trace::Counters counters_;
  Ledger ledger_{nullptr, counters_};
};

TEST_F(LedgerTest, PutsOfACommittedStepAreDurableBeforeAllServersHaveSaidSo) {
  const auto ticket = put(0);
  ledger_.advance(ticket, protocol::Notice::About::durable);
  commit_until(1);
  EXPECT_TRUE(ask(ticket).ok());
  ledger_.advance(ticket, protocol::Notice::About::durable);  // late
  EXPECT_TRUE(ask(ticket).ok());
}

TEST_F(LedgerTest, APutOfALaterStepIsNotDurableWithIt) {
  const auto ticket = put(1);
  commit_until(1);
  EXPECT_FALSE(ledger_.has_reached(ticket, State::durable));
}

TEST_F(LedgerTest, MemoryIsFreeWhenNoPutOfTheFileKeepsIt) {
  EXPECT_TRUE(ledger_.memory_is_free(file));
  const auto ticket = put(0);
  ledger_.tickets().find(ticket)->kept = true;
  EXPECT_FALSE(ledger_.memory_is_free(file));
  EXPECT_TRUE(ledger_.memory_is_free(file + 1));
  ledger_.tickets().find(ticket)->kept = false;
  EXPECT_TRUE(ledger_.memory_is_free(file));
}

TEST_F(LedgerTest, TheCauseIsToldInsteadOfWhatCameOfIt) {
  const auto ticket = put(0);
  ledger_.fail(file, ticket, missing);
  ledger_.lost(file, 0, difference);
  EXPECT_EQ(ledger_.failures().take_untold(file).story, difference.story);
  EXPECT_EQ(ask(ticket).story, difference.story);
}

TEST_F(LedgerTest, WhatComesOfTheCauseLaterIsNotTold) {
  const auto ticket = put(0);
  ledger_.lost(file, 0, difference);
  EXPECT_EQ(ask(ticket).story, difference.story);
  ledger_.fail(file, ticket, missing);
  EXPECT_TRUE(ledger_.failures().take_untold().ok());
}

TEST_F(LedgerTest, WhatComesOfAStepThatWasGivenUpIsNotTold) {
  const auto of_step = put(1);
  const auto of_next = put(2);
  ledger_.gave_up(file, 1, difference);
  EXPECT_EQ(ledger_.failures().take_untold(file).story, difference.story);
  EXPECT_EQ(ask(of_step).story, difference.story);
  ledger_.fail(file, of_step, missing);
  EXPECT_TRUE(ledger_.failures().take_untold().ok());
  ledger_.fail(file, of_next, missing);
  EXPECT_EQ(ledger_.failures().take_untold().story, missing.story);
}

TEST_F(LedgerTest, TheLowestOfFailedStepsIsToldAndTheNumberOfOthers) {
  auto& failures = ledger_.failures();
  ledger_.fail(file, put(5), missing);  // writes fail before steps settle
  ledger_.fail(file, put(5), {ErrorCode::storage_failure, "the disk is full"});
  for (std::int64_t step = 1; step <= 4; ++step) {
    ledger_.gave_up(file, step, difference);  // one commit of several steps
  }
  failures.add(file + 1, 0, missing);
  EXPECT_EQ(failures.untold(file).story, difference.story + " (and 4 more steps have failed)");
  EXPECT_EQ(failures.untold().story, difference.story + " (and 5 more steps have failed)");
  EXPECT_FALSE(failures.take_untold(file).ok());
  EXPECT_EQ(failures.take_untold().story, missing.story);  // each is told once
  EXPECT_TRUE(failures.untold().ok());
}

TEST_F(LedgerTest, AStepThatFailedBeforeTheCauseIsToldFirst) {
  ledger_.gave_up(file, 1, missing);
  ledger_.lost(file, 2, difference);
  ledger_.gave_up(file, 3, difference);  // follows from the cause
  EXPECT_EQ(ledger_.failures().take_untold(file).story,
            missing.story + " (and 1 more step has failed)");
}

TEST_F(LedgerTest, AFailureOfTheWholeFileIsToldFirst) {
  ledger_.gave_up(file, 0, difference);
  ledger_.failures().add(file, FailureBook::no_step, missing);
  EXPECT_EQ(ledger_.failures().take_untold(file).story,
            missing.story + " (and 1 more step has failed)");
}

TEST_F(LedgerTest, APutThatFailedKeepsItsOwnStoryWhenItsStepIsGivenUp) {
  const auto ticket = put(0);
  ledger_.fail(file, ticket, missing);
  ledger_.gave_up(file, 0, difference);
  EXPECT_EQ(ask(ticket).story, missing.story);
}

TEST_F(LedgerTest, AFailureThatWasToldStays) {
  const auto ticket = put(0);
  ledger_.fail(file, ticket, missing);
  EXPECT_EQ(ask(ticket).story, missing.story);
  ledger_.lost(file, 0, difference);
  EXPECT_EQ(ask(ticket).story, missing.story);
}

TEST_F(LedgerTest, WhatWasDurableBeforeTheFileFailedStaysDurable) {
  const auto before = put(0);
  const auto after = put(1);
  commit_until(1);
  ledger_.lost(file, 1, difference);
  EXPECT_TRUE(ask(before).ok());
  EXPECT_EQ(ask(after).story, difference.story);
}

}  // namespace
}  // namespace iocomp::client
