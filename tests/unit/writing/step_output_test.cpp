// SPDX-License-Identifier: BSD-3-Clause
#include "writing/step_output.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/orders.h"
#include "trace/counters.h"
#include "unit/writing/fake_target.h"
#include "unit/writing/pieces.h"
#include "unit/writing/written_file.h"
#include "writing/file_writer.h"
#include "writing/together.h"

namespace iocomp::writing {
namespace {

/// A piece of a step in memory of the arena.
Chunk leased_chunk(const CountedPiece& of, std::int64_t step, staging::Arena& arena) {
  of.piece->step = step;
  Chunk chunk;
  chunk.piece = of.piece;
  chunk.count = of.piece->elements_left;
  chunk.lease = arena.try_take(static_cast<std::size_t>(chunk.count) * 8).value();
  chunk.bytes = chunk.lease.bytes();
  return chunk;
}

class StepOutputTest : public testing::Test {
 protected:
  StepOutputTest() { file.writer->file().created(std::make_unique<FakeStepTarget>(asked)); }
  Asked asked;
  WrittenFile file{{.kind = formats::Kind::step}};
  contents::Variable of = int64_variable({10});
  CountedPiece first{of, array::whole(of.shape), -1};
  CountedPiece second{of, array::whole(of.shape), -1};
};

TEST_F(StepOutputTest, KeepsMemoryUntilTheStepIsWritten) {
  StepOutput& steps = *file.writer->whole_steps();
  const auto all = [](std::int64_t) { return true; };
  file.writer->write(leased_chunk(first, 0, file.arena));
  EXPECT_EQ(*first.ended, 1);
  EXPECT_EQ(file.arena.used_bytes(), staging::Arena::page_bytes);
  EXPECT_EQ(steps.kept_bytes(all), staging::Arena::page_bytes);
  EXPECT_EQ(steps.kept_bytes([](std::int64_t step) { return step != 0; }), 0U);
  steps.begin_step(0, {});
  steps.write_step();
  EXPECT_EQ(asked.steps, std::vector<std::int64_t>{0});
  EXPECT_EQ(file.arena.used_bytes(), staging::Arena::page_bytes);
  EXPECT_TRUE(steps.end_step({}).ok());
  EXPECT_EQ(file.counters[trace::Counter::raw_bytes], 8);
  EXPECT_EQ(file.counters[trace::Counter::compressed_bytes], 2);
  EXPECT_EQ(file.arena.used_bytes(), 0U);
  EXPECT_EQ(steps.kept_bytes(all), 0U);
}

TEST_F(StepOutputTest, CountsTheMemoryOfEachChunk) {
  file.writer->write(leased_chunk(first, 0, file.arena));
  file.writer->write(leased_chunk(second, 0, file.arena));
  EXPECT_EQ(file.writer->whole_steps()->kept_bytes([](std::int64_t) { return true; }),
            2 * staging::Arena::page_bytes);
}

TEST_F(StepOutputTest, ForgetsAStepThatIsGivenUpAndNoOther) {
  StepOutput& steps = *file.writer->whole_steps();
  file.writer->write(leased_chunk(first, 0, file.arena));
  steps.begin_step(0, {});
  steps.write_step();
  EXPECT_TRUE(steps.end_step({}).ok());
  const int forgotten = asked.forgotten;
  file.writer->write(leased_chunk(second, 1, file.arena));
  steps.forget(0);
  EXPECT_EQ(asked.forgotten, forgotten);
  EXPECT_NE(file.arena.used_bytes(), 0U);
  steps.forget(1);
  EXPECT_EQ(asked.forgotten, forgotten + 1);
  EXPECT_EQ(file.arena.used_bytes(), 0U);
}

TEST_F(StepOutputTest, TellsWhatTheLibrarySays) {
  asked.fails = true;
  file.writer->write(leased_chunk(first, 0, file.arena));
  EXPECT_EQ(*first.ended, 1);
  EXPECT_EQ(first.piece->failure.story, "the library says no");
  EXPECT_EQ(file.arena.used_bytes(), 0U);
  file.writer->whole_steps()->begin_step(0, {});
  EXPECT_THROW(file.writer->whole_steps()->write_step(), Error);
}

// Nobody leaves another waiting, and nobody calls the file good.
TEST_F(StepOutputTest, AFileThatCannotBeWrittenIsEndedAndTold) {
  const contents::Catalogue catalogue{{}, 1, false};
  for (const bool fails : {true, false}) {
    asked.fails = fails;
    file.writer->file().created(std::make_unique<FakeStepTarget>(asked));
    const Act act =
        act_of({.action = steps::Action::finish, .number = 0}, *file.writer, {}, catalogue, {});
    const Outcome outcome = act.end(outcome_of(act.work));
    EXPECT_EQ(outcome.story, fails ? "the library says no" : "");
    EXPECT_FALSE(file.writer->file().has_target());
  }
}

// The owner has the library of the format, so these calls come after the work of a thread.
TEST_F(StepOutputTest, TheOwnerEndsWhatAThreadHasWritten) {
  const contents::Catalogue catalogue{{}, 1, false};
  using Action = steps::Action;
  const auto act = [&](Action action, std::int64_t number) {
    const Act ordered = act_of({.action = action, .number = number}, *file.writer, {}, catalogue,
                               [this] { return std::make_unique<FakeStepTarget>(asked); });
    asked.of_owner.clear();
    const Outcome worked = outcome_of(ordered.work);
    EXPECT_TRUE(asked.of_owner.empty());
    return ordered.end(worked).story;
  };
  using Calls = std::vector<std::string>;
  for (const bool fails : {false, true}) {
    asked.owner_fails = fails;
    EXPECT_EQ(act(Action::create, -1), fails ? "begin fails" : "");
    EXPECT_EQ(file.writer->file().has_target(), !fails);
    EXPECT_EQ(asked.of_owner, Calls{"begin"});
    file.writer->file().created(std::make_unique<FakeStepTarget>(asked));
    EXPECT_EQ(act(Action::flush, -1), fails ? "end_step fails" : "");
    EXPECT_EQ(asked.of_owner, Calls{"end_step"});
    EXPECT_EQ(act(Action::finish, -1), fails ? "close fails" : "");
    EXPECT_EQ(asked.of_owner, Calls{"close"});
    file.writer->file().created(std::make_unique<FakeStepTarget>(asked));
    EXPECT_EQ(act(Action::finish, 0), fails ? "end_step fails" : "");
    EXPECT_EQ(asked.of_owner, fails ? Calls{"end_step"} : (Calls{"end_step", "close"}));
    file.writer->file().created(std::make_unique<FakeStepTarget>(asked));
    EXPECT_EQ(act(Action::discard, -1), fails ? "close fails" : "");
  }
}

TEST_F(StepOutputTest, FailsPiecesOfAFileThatIsClosed) {
  (void)file.writer->file().take_target();
  file.writer->write(leased_chunk(first, 0, file.arena));
  EXPECT_EQ(*first.ended, 1);
  EXPECT_EQ(first.piece->failure.story, "the step was given up");
}

}  // namespace
}  // namespace iocomp::writing
