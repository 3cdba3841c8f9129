// SPDX-License-Identifier: BSD-3-Clause
#include "writer/writer_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/run_list.h"
#include "base/error.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "disk/engine.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/registry.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "staging/arena.h"
#include "staging/arena_stripes.h"
#include "trace/counters.h"
#include "unit/temporary_folder.h"
#include "unit/writing/fake_target.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::writer {
namespace {

using protocol::Kind;
using Became = WriterFile::Became;

constexpr std::int64_t elements = 8;

/// A writer of a file with one variable "u" of 8 bytes, and a disk that does what it is asked when
/// a test says so.
class AWriter : public testing::Test, public WriterFile::Owner {
 protected:
  struct Told {
    std::uint64_t ticket;
    Became became;
    std::string story{};
    friend bool operator==(const Told&, const Told&) = default;
  };
  struct Report {
    Kind kind;
    std::int64_t step;
    std::string story{};
    friend bool operator==(const Report&, const Report&) = default;
    friend void PrintTo(const Report& report, std::ostream* out) {
      *out << static_cast<int>(report.kind) << " of step " << report.step << ": " << report.story;
    }
  };

  AWriter() {
    contents::Event event;
    event.what = contents::Event::What::define;
    event.name = "u";
    event.type = array::ElementType::uint8;
    event.shape = {1, {elements}};
    catalogue_.apply(event);
  }

  struct Way {
    bool own = false;  ///< it writes the blocks of its own rank
    bool file_per_step = false;
    bool syncs_last = false;
    bool lead_syncs = false;
    bool writes_whole_steps = false;
  };
  WriterFile& open(bool own, bool file_per_step = false) {
    return open(Way{.own = own, .file_per_step = file_per_step});
  }
  WriterFile& open(const Way& way) {
    const formats::Format& format = way.writes_whole_steps ? whole_steps_ : posix_;
    commit::Publication names{{.name = "out",
                               .path = folder_ / "out.bin",
                               .job = "here-1",
                               .held = std::make_shared<const OpenFolder>(folder_ / ""),
                               .file_per_step = way.file_per_step},
                              format,
                              &catalogue_};
    write_text(names.names(0).temporary.text(), "");
    WriterFile::Setup setup;
    setup.who = ", server 2";
    setup.writes_own_blocks = setup.files.begins_files = way.own;
    setup.syncs_last = way.syncs_last;
    setup.lead_syncs = way.lead_syncs;
    setup.files.format = &format;
    setup.files.stripe_memory = &stripe_memory_;
    setup.files.stripes = {.file = 1, .bytes = 64 << 10};
    setup.create = [this](const auto& /*path*/, const auto& /*options*/) {
      return std::make_unique<writing::FakeStepTarget>(asked_);
    };
    setup.files.submit = [this](disk::Plan plan, auto done) {
      plans_.emplace_back(std::move(plan), std::move(done));
    };
    file_ = std::make_unique<WriterFile>(std::move(setup), std::move(names), catalogue_, counters_,
                                         *this);
    file_->files().begin_at({});
    return *file_;
  }

  std::shared_ptr<writing::Piece> begin(std::uint64_t ticket, std::int64_t step = 0,
                                        std::int64_t first = 0, std::int64_t count = 4) {
    const array::Box box{1, {first}, {count}};
    auto piece = file_->begin(step, {box, 0, count}, 3, ticket);
    piece->variable = catalogue_.variable(0, step);
    return piece;
  }
  void take(const std::shared_ptr<writing::Piece>& piece) {
    writing::Chunk chunk;
    chunk.piece = piece;
    chunk.count = piece->elements_left;
    chunk.bytes = values_;
    chunk.bytes = chunk.bytes.first(static_cast<std::size_t>(chunk.count));
    file_->take(std::move(chunk));
    file_->files().submit();
  }
  /// The next thing that the disk was asked comes to this end. @return whether it was an fsync.
  bool end_next(const std::string& failure = {}) {
    auto [plan, done] = std::move(plans_.front());
    plans_.pop_front();
    auto completion = failure.empty() ? disk::carry_out(plan) : disk::Completion{};
    if (!failure.empty()) {
      completion.code = ErrorCode::storage_failure;
      completion.story = failure;
    }
    done(completion);
    return plan.sync;
  }
  /// All that is asked is done, and all that can be is reported.
  void finish() {
    do {
      while (!plans_.empty()) {
        (void)end_next();
      }
    } while (file_->advance());
  }

  void tell(const Given& piece, Became became, const Outcome& outcome) override {
    told_.push_back({piece.ticket, became, outcome.story});
  }
  [[nodiscard]] bool is_awaited(const Given& /*piece*/) const override { return false; }
  void report(Kind kind, const protocol::StepNote& note) override {
    reports_.push_back({kind, note.step, note.outcome.story});
  }
  void report(const protocol::PutReport& puts) override {
    reports_.push_back({Kind::put_report, puts.step, std::to_string(puts.puts.size())});
  }

  /// The same for a block of this rank, which its BlockWriter writes.
  void give(const std::shared_ptr<writing::Piece>& piece) {
    piece->offset = file_->files().offset(0, piece->step);
    writing::Chunk chunk;
    chunk.piece = piece;
    chunk.count = piece->elements_left;
    chunk.bytes = std::span{values_}.first(static_cast<std::size_t>(chunk.count));
    file_->files().writer_of(piece->step).write(std::move(chunk));
    file_->given(piece, true);
    file_->files().submit();
  }
  /// A piece is put together with others, in stripes of so many elements.
  static std::shared_ptr<writing::Piece> joined(std::shared_ptr<writing::Piece> piece,
                                                std::int64_t stripe) {
    piece->domain_end = elements;
    piece->stripe_elements = stripe;
    return piece;
  }

  TemporaryFolder folder_;
  const formats::Format& posix_ = formats::format("posix");
  const formats::Format whole_steps_{
      {.rules = {.format = "whole_steps"}, .extension = ".bin", .kind = formats::Kind::step}};
  writing::Asked asked_;
  staging::Arena arena_{std::size_t{1} << 20};
  staging::ArenaStripes stripe_memory_{arena_};
  contents::Catalogue catalogue_{posix_.traits().rules, 1, true};
  trace::Counters counters_;
  std::deque<std::pair<disk::Plan, std::function<void(const disk::Completion&)>>> plans_;
  std::vector<std::byte> values_{static_cast<std::size_t>(elements), std::byte{7}};
  std::vector<Told> told_;
  std::vector<Report> reports_;
  std::unique_ptr<WriterFile> file_;
};

TEST_F(AWriter, ReportsAStepWhenAllItsPiecesAreDurableAndNotBefore) {
  open(false);
  file_->expect({.step = 0, .pieces = 2, .report = {}});
  take(begin(1));
  EXPECT_FALSE(end_next());
  EXPECT_FALSE(file_->advance());  // one has not come
  take(begin(2, 0, 4));
  EXPECT_FALSE(file_->advance());  // it is not written
  EXPECT_FALSE(end_next());
  EXPECT_TRUE(file_->advance());
  EXPECT_TRUE(reports_.empty());  // nor durable
  EXPECT_TRUE(end_next());
  EXPECT_TRUE(file_->advance());
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  EXPECT_EQ(
      told_,
      (std::vector<Told>{
          {1, Became::written}, {2, Became::written}, {1, Became::durable}, {2, Became::durable}}));
  EXPECT_FALSE(file_->advance());  // once
}

TEST_F(AWriter, ReportsNothingBeforeItIsToldHowManyPiecesCome) {
  open(false);
  take(begin(1));
  finish();
  EXPECT_TRUE(reports_.empty());
  EXPECT_TRUE(plans_.empty());
  file_->expect({.step = 0, .pieces = 1, .report = {0}});
  file_->note_put(0, {.variable = 0, .rank = 5, .part = {array::Box{1, {0}, {4}}, 0, 4}});
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::put_report, 0, "1"}, {Kind::step_done, 0}}));
}

TEST_F(AWriter, CountsWhatComputeRanksHaveWritten) {
  open(false);
  file_->expect({.step = 0, .pieces = 2, .report = {}});
  take(begin(1));
  finish();
  EXPECT_TRUE(reports_.empty());
  file_->written_elsewhere({0, {ErrorCode::storage_failure, "file \"out\": gone"}, {{0, 5, {}}}});
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0, "file \"out\": gone"}}));
}

TEST_F(AWriter, AFailedWriteFailsThePieceAndItsStepAlone) {
  open(false);
  file_->expect({.step = 0, .pieces = 1, .report = {}});
  file_->expect({.step = 1, .pieces = 1, .report = {}});
  take(begin(1));
  take(begin(2, 1));
  (void)end_next("no room");
  finish();
  const std::string story = "file \"out\", variable \"u\", step 0, server 2: no room";
  EXPECT_EQ(told_, (std::vector<Told>{
                       {1, Became::failed, story}, {2, Became::written}, {2, Became::durable}}));
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0, story}, {Kind::step_done, 1}}));
}

// A file that the disk may have lost then is never told again.
TEST_F(AWriter, AFailedFsyncFailsAllStepsOfThePhysicalFileThatItWasFor) {
  open(false);
  file_->expect({.step = 0, .pieces = 1, .report = {}});
  take(begin(1));
  take(begin(2, 1));
  (void)end_next();
  (void)end_next();
  (void)file_->advance();
  EXPECT_TRUE(end_next("lost"));
  file_->expect({.step = 1, .pieces = 1, .report = {}});
  finish();
  EXPECT_EQ(reports_,
            (std::vector<Report>{{Kind::step_done, 0, "file \"out\", step 0, server 2: lost"},
                                 {Kind::step_done, 1, "file \"out\", step 1, server 2: lost"}}));
  ASSERT_EQ(told_.size(), 4U);
  EXPECT_EQ(told_[2],
            (Told{1, Became::failed, "file \"out\", variable \"u\", step 0, server 2: lost"}));
  EXPECT_EQ(told_[3].became, Became::failed);
}

TEST_F(AWriter, ReportsAStepAnewWhenItIsFilled) {
  open(false);
  file_->expect({.step = 0, .pieces = 1, .report = {}});
  take(begin(1));
  finish();
  array::RunList holes;
  holes.append({.index = 4, .elements = 4});
  file_->fill({.step = 0, .holes = {{0, std::make_shared<const array::RunList>(holes)}}});
  EXPECT_FALSE(file_->advance());
  EXPECT_FALSE(end_next());
  EXPECT_TRUE(file_->advance());
  EXPECT_EQ(reports_.size(), 1U);  // it is not durable
  EXPECT_TRUE(end_next());
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}, {Kind::step_done, 0}}));
  EXPECT_EQ(text_of(file_->files().names().names(0).temporary.text()),
            (std::string{7, 7, 7, 7, 0, 0, 0, 0}));
}

TEST_F(AWriter, AsksOnceForAPlaceAndWritesWhenItIsTold) {
  open(false, true);
  file_->expect({.step = 0, .pieces = 2, .report = {}});
  take(begin(1));
  take(begin(2, 0, 4));
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::want_place, 0}}));
  EXPECT_TRUE(told_.empty());
  file_->place({0, 0, 0, {}});
  file_->files().submit();
  finish();
  EXPECT_EQ(reports_.back(), (Report{Kind::step_done, 0}));
}

TEST_F(AWriter, WhatGotNoPlaceFails) {
  open(false, true);
  file_->expect({.step = 0, .pieces = 1, .report = {}});
  take(begin(1));
  file_->place({0, 0, -1, {ErrorCode::storage_failure, "no file"}});
  finish();
  EXPECT_EQ(reports_.back().kind, Kind::step_done);
  EXPECT_NE(reports_.back().story.find("no file"), std::string::npos);
}

TEST_F(AWriter, WhatWaitsForAPlaceFailsWithItsStepAlone) {
  open(false, true);
  take(begin(1));
  take(begin(2, 1));
  file_->settle(0, {ErrorCode::storage_failure, "file \"out\": dropped"});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::failed, "file \"out\": dropped"}}));
  EXPECT_EQ(file_->oldest_writing(-1), -1);
}

TEST_F(AWriter, WhatWaitsForAPlaceFailsWithTheFile) {
  open(false, true);
  take(begin(1, 1));
  file_->fail({ErrorCode::inconsistent_calls, "file \"out\": others"}, 1);
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::failed, "file \"out\": others"}}));
  EXPECT_TRUE(file_->is_lost(1));
  EXPECT_FALSE(file_->is_lost(0));
  take(begin(2, 1));
  EXPECT_EQ(told_.back(), (Told{2, Became::failed, "file \"out\": others"}));
}

TEST_F(AWriter, ReportsItsOwnBlocksUnaskedWhenTheStepHasEnded) {
  open(true);
  const auto block = begin(1);
  const auto later = begin(2, 0, 4);
  take(block);
  finish();
  EXPECT_TRUE(reports_.empty());
  file_->ended(0);
  finish();
  EXPECT_TRUE(reports_.empty());  // one is still to be written
  take(later);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
}

TEST_F(AWriter, AStepWithoutPiecesNeedsNoFsync) {
  open(true);
  file_->ended(0);
  EXPECT_TRUE(file_->advance());
  EXPECT_TRUE(plans_.empty());
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
}

TEST_F(AWriter, TellsTheLeadOfAFailureThatComesAfterItsReport) {
  open(true);
  file_->ended(0);
  finish();
  file_->fail_step(0, {ErrorCode::storage_failure, "late"});
  EXPECT_EQ(reports_.back(),
            (Report{Kind::home_failed, 0, "file \"out\", step 0, server 2: late"}));
}

// It is told with the step as long as that is not reported, and by nobody where all have failed.
TEST_F(AWriter, TellsTheLeadOfTheFirstFailureOnceAndOnlyThen) {
  open(true);
  const Outcome first{ErrorCode::storage_failure, "first"};
  file_->fail_step(0, first);
  EXPECT_TRUE(reports_.empty());
  file_->ended(0);
  file_->fail_step(0, {ErrorCode::storage_failure, "second"});
  finish();
  EXPECT_EQ(reports_,
            (std::vector<Report>{{Kind::step_done, 0, "file \"out\", step 0, server 2: first"}}));
  file_->fail_step(0, {ErrorCode::storage_failure, "third"});
  EXPECT_EQ(reports_.size(), 1U);

  file_->ended(1);
  file_->ended(2);
  finish();
  file_->fail_step(1, {});
  EXPECT_EQ(reports_.size(), 3U);
  file_->fail({ErrorCode::inconsistent_calls, "others"}, 2);
  file_->fail_step(2, first);
  EXPECT_EQ(reports_.size(), 3U);
  file_->fail_step(1, first);
  EXPECT_EQ(reports_.back().kind, Kind::home_failed);
}

TEST_F(AWriter, KnowsWhetherAllMembersHaveEndedAStep) {
  open(false);
  EXPECT_FALSE(file_->is_asked(0));
  const auto piece = begin(1);
  EXPECT_FALSE(file_->is_asked(0));
  file_->expect({.step = 0, .pieces = 1, .report = {}});
  EXPECT_TRUE(file_->is_asked(0));
  EXPECT_FALSE(file_->is_asked(1));
}

TEST_F(AWriter, OneFsyncIsForAllStepsThatAreWritten) {
  open(true);
  take(begin(1));
  take(begin(2, 1));
  while (!plans_.empty()) {
    (void)end_next();
  }
  file_->ended(0);
  file_->ended(1);
  (void)file_->advance();
  EXPECT_EQ(plans_.size(), 1U);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}, {Kind::step_done, 1}}));
}

TEST_F(AWriter, WhatIsWrittenDuringAnFsyncIsMadeDurableByTheNext) {
  open(true);
  take(begin(1));
  (void)end_next();
  file_->sync(0);
  take(begin(2, 0, 4));
  file_->ended(0);
  EXPECT_TRUE(end_next());
  EXPECT_FALSE(end_next());
  EXPECT_EQ(told_.back(), (Told{2, Became::written}));
  (void)file_->advance();
  EXPECT_TRUE(reports_.empty());
  EXPECT_TRUE(end_next());
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
}

TEST_F(AWriter, MakesEachPhysicalFileDurableOfWhichAnythingIsWritten) {
  open(true, true);
  EXPECT_FALSE(file_->sync_all());
  for (const std::int64_t step : {0, 1}) {
    write_text(file_->files().names().names(step).temporary.text(), "");
    take(begin(static_cast<std::uint64_t>(step) + 1, step));
    EXPECT_FALSE(end_next());
  }
  EXPECT_TRUE(file_->sync_all());
  EXPECT_EQ(plans_.size(), 2U);
  EXPECT_FALSE(file_->sync_all());
  EXPECT_FALSE(file_->is_idle());
  EXPECT_TRUE(end_next());
  EXPECT_TRUE(end_next());
  EXPECT_TRUE(file_->is_idle());
  EXPECT_EQ(
      told_,
      (std::vector<Told>{
          {1, Became::written}, {2, Became::written}, {1, Became::durable}, {2, Became::durable}}));
}

TEST_F(AWriter, WhatIsWrittenOfAPhysicalFileThatWasGivenUpIsNotDurable) {
  open(true, true);
  take(begin(1));
  EXPECT_FALSE(end_next());
  file_->files().forget(0);
  file_->sync(0);
  EXPECT_TRUE(plans_.empty());
  EXPECT_EQ(told_.back(), (Told{1, Became::failed,
                                "file \"out\", variable \"u\", step 0, server 2: the step was "
                                "given up"}));
}

TEST_F(AWriter, StepsAreMadeDurableWhenThatIsOrdered) {
  open(true);
  take(begin(1));
  (void)end_next();
  file_->sync_until(0);
  file_->ended(0);
  EXPECT_FALSE(file_->advance());
  file_->sync_until(1);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
}

TEST_F(AWriter, APieceThatIsGivenUpFailsOnceAndIsNotWaitedFor) {
  open(true);
  const auto block = begin(1);
  file_->ended(0);
  file_->give_up(block, {ErrorCode::storage_failure, "no memory"});
  file_->give_up(block, {ErrorCode::storage_failure, "no memory"});
  finish();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].became, Became::failed);
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0, told_[0].story}}));
}

TEST_F(AWriter, WhatIsUnderWayOfASettledStepIsStillBeingWritten) {
  open(true);
  const auto block = begin(1);
  take(block);
  file_->settle(0, {ErrorCode::storage_failure, "file \"out\": dropped"});
  EXPECT_EQ(file_->oldest_writing(-1), 0);
  EXPECT_FALSE(file_->is_idle());
  (void)end_next();
  EXPECT_EQ(file_->oldest_writing(-1), -1);
  EXPECT_TRUE(file_->is_idle());
  finish();
  EXPECT_TRUE(reports_.empty());
}

TEST_F(AWriter, ReportsWhatIsWrittenAndMakesItDurableLast) {
  contents::Event fill;
  fill.what = contents::Event::What::attribute;
  fill.variable = 0;
  fill.name = contents::fill_attribute;
  fill.attribute.values = {std::byte{9}};
  catalogue_.apply(fill);
  open(Way{.own = true, .syncs_last = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  file_->ended(0);
  EXPECT_FALSE(file_->advance());
  file_->expect({.step = 0, .report = {}});
  array::RunList holes;
  holes.append({.index = 4, .elements = 4});
  file_->fill({.step = 0, .holes = {{0, std::make_shared<const array::RunList>(holes)}}});
  EXPECT_FALSE(end_next());
  EXPECT_TRUE(file_->advance());
  EXPECT_TRUE(plans_.empty());
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  file_->make_durable(0);
  EXPECT_TRUE(file_->advance());
  EXPECT_EQ(reports_.size(), 1U);
  EXPECT_TRUE(end_next());
  finish();
  EXPECT_EQ(reports_.size(), 2U);
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}, {1, Became::durable}}));
}

// It has reported the step before, as written.
TEST_F(AWriter, AFileThatHasLostItsNameFailsTheStepThatIsMadeDurableLast) {
  open(Way{.own = true, .file_per_step = true, .syncs_last = true});
  take(begin(1));
  file_->ended(0);
  file_->expect({.step = 0, .report = {}});
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  ASSERT_EQ(::unlink(file_->files().names().names(0).temporary.text().c_str()), 0);
  file_->make_durable(0);
  finish();
  ASSERT_EQ(reports_.size(), 2U);
  EXPECT_NE(reports_[1].story.find("No such file"), std::string::npos) << reports_[1].story;
}

TEST_F(AWriter, WhatTheLeadSyncsIsReportedOnceItIsWrittenAndDurableOnceTheStepIsSettled) {
  open(Way{.own = true, .lead_syncs = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  file_->ended(0);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}}));
  file_->settle(0, {});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}, {1, Became::durable}}));
}

// The system tells the failure once, and the lead syncs another descriptor.
TEST_F(AWriter, AFailedFsyncFailsAllStepsThatTheLeadHasNotCommitted) {
  open(Way{.own = true, .lead_syncs = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  file_->sync(0);
  EXPECT_TRUE(end_next());
  file_->ended(0);
  (void)file_->advance();
  file_->sync(0);
  take(begin(2, 1));
  EXPECT_TRUE(end_next("lost"));
  EXPECT_FALSE(end_next());
  file_->ended(1);
  finish();
  EXPECT_EQ(reports_,
            (std::vector<Report>{{Kind::step_done, 0},
                                 {Kind::home_failed, 0, "file \"out\", step 0, server 2: lost"},
                                 {Kind::step_done, 1, "file \"out\", step 1, server 2: lost"}}));
}

TEST_F(AWriter, AFileWhoseFsyncHasFailedFailsLaterStepsToo) {
  open(Way{.own = true, .lead_syncs = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  (void)file_->files().writer_of(0).file().opened()->end_sync(EIO);
  file_->ended(0);
  finish();
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_NE(reports_[0].story.find("syncing"), std::string::npos) << reports_[0].story;
}

TEST_F(AWriter, WhatIsSyncedWhileTheLeadCommitsTheStepIsDurableOnceItIsSettled) {
  open(Way{.own = true, .lead_syncs = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  file_->ended(0);
  finish();
  file_->sync(0);
  file_->settle(0, {});
  const std::vector<Told> told{{1, Became::written}, {1, Became::durable}};
  EXPECT_EQ(told_, told);
  EXPECT_TRUE(file_->is_idle());
  EXPECT_TRUE(end_next());
  EXPECT_EQ(told_, told);
}

// The lead would sync another one.
TEST_F(AWriter, AFileThatHasLostItsNameFailsTheStepThatTheLeadSyncs) {
  open(Way{.own = true, .lead_syncs = true});
  take(begin(1));
  EXPECT_FALSE(end_next());
  std::filesystem::remove(file_->files().names().names(0).temporary.text());
  file_->ended(0);
  finish();
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_NE(reports_[0].story.find("No such file"), std::string::npos);
}

// A library writes them when they are committed.
TEST_F(AWriter, WholeStepsAreReportedWhenThatIsAskedAndWrittenWhenTheyAreSettled) {
  open(Way{.own = true, .writes_whole_steps = true});
  file_->act({.action = protocol::Action::create, .step = -1, .outcome = {}});
  file_->place({0, 0, -1, {}});
  take(begin(1));
  file_->ended(0);
  EXPECT_FALSE(file_->advance());
  EXPECT_TRUE(reports_.empty());
  EXPECT_TRUE(file_->admits(0));
  EXPECT_FALSE(file_->admits(1));
  file_->expect({.step = 0, .report = {}});
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  EXPECT_TRUE(told_.empty());
  file_->settle(0, {});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}, {1, Became::durable}}));
  EXPECT_TRUE(file_->admits(1));
  EXPECT_EQ(asked_.writes.size(), 1U);
  EXPECT_TRUE(plans_.empty());
}

TEST_F(AWriter, StripesAreWrittenWhenAllPiecesOfAStepThatAllHaveEndedAreHere) {
  open(false);
  file_->expect({.step = 0, .pieces = 2, .report = {}});
  file_->expect({.step = 1, .pieces = 2, .report = {}});
  take(joined(begin(1, 0, 0, 3), elements));
  take(joined(begin(2, 1, 0, 3), elements));
  EXPECT_TRUE(plans_.empty());
  take(joined(begin(3, 0, 4, 2), elements));
  EXPECT_EQ(plans_.size(), 1U);  // of the step that is here
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  EXPECT_EQ(text_of(file_->files().names().names(0).temporary.text()),
            (std::string{7, 7, 7, 0, 7, 7}));
  take(joined(begin(4, 2, 0, 3), elements));
  take(joined(begin(5, 2, 4, 2), elements));
  EXPECT_TRUE(plans_.empty());  // nobody knows yet that these are all
  file_->expect({.step = 2, .pieces = 2, .report = {}});
  EXPECT_EQ(plans_.size(), 1U);
}

// Other ranks may wait for theirs.
TEST_F(AWriter, StripesOfOwnBlocksDoNotWaitForABlockThatIsNotGivenYet) {
  open(true);
  give(joined(begin(1, 0, 0, 3), elements));
  const auto later = begin(2, 0, 4);
  file_->ended(0);
  EXPECT_TRUE(plans_.empty());
  file_->expect({.step = 0, .report = {}});
  EXPECT_EQ(plans_.size(), 1U);
  give(later);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
}

// Elements 0 to 2 are a stripe that is full, and element 3 waits for others.
TEST_F(AWriter, AnOwnBlockIsDoneWhenAllThatIsLeftOfItIsWithOthers) {
  open(true);
  const auto block = joined(begin(1), 3);
  EXPECT_EQ(file_->oldest_writing(-1), -1);
  give(block);
  EXPECT_EQ(file_->oldest_writing(-1), 0);
  EXPECT_EQ(plans_.size(), 1U);
  file_->ended(0);
  EXPECT_FALSE(file_->advance());
  EXPECT_FALSE(end_next());
  EXPECT_EQ(file_->oldest_writing(-1), -1);  // that is not this rank's business
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(arena_.used_bytes(), staging::Arena::page_bytes);
  file_->settle(0, {});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}, {1, Became::durable}}));
  EXPECT_EQ(arena_.used_bytes(), 0U);
}

// Otherwise the lead would take later steps for lost, too.
TEST_F(AWriter, WhatFailsWithItsStepIsNotReported) {
  open(true);
  give(joined(begin(1, 0, 0, 3), elements));
  file_->ended(0);
  finish();
  EXPECT_EQ(reports_, (std::vector<Report>{{Kind::step_done, 0}}));
  file_->settle(0, {ErrorCode::storage_failure, "file \"out\": dropped"});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::failed, "file \"out\": dropped"}}));
  EXPECT_EQ(reports_.size(), 1U);
}

// Its only stripe is here, so that the zeros join it.
TEST_F(AWriter, AStripeOfOwnBlocksEndsWhenThatIsOrderedAndNotWhenPutsAreAskedFor) {
  open(true);
  give(joined(begin(1, 0, 0, 3), elements));
  file_->ended(0);
  file_->expect({.step = 0, .report = {0}, .ends_stripes = false});
  EXPECT_FALSE(file_->is_asked(0));
  finish();
  EXPECT_EQ(reports_.size(), 2U);  // the puts, and that it is done
  EXPECT_TRUE(told_.empty());
  array::RunList holes;
  holes.append({.index = 3, .elements = 4});
  file_->fill({.step = 0, .holes = {{0, std::make_shared<const array::RunList>(holes)}}});
  finish();
  EXPECT_EQ(reports_.back(), (Report{Kind::step_done, 0}));
  EXPECT_TRUE(told_.empty());  // the last element is with another rank
  EXPECT_EQ(file_->oldest_writing(-1), -1);
  file_->expect({.step = 0, .report = {}});
  EXPECT_TRUE(file_->is_asked(0));
  finish();
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::written}, {1, Became::durable}}));
  EXPECT_EQ(text_of(file_->files().names().names(0).temporary.text()), (std::string{7, 7, 7}));
  file_->settle(0, {});
  EXPECT_EQ(arena_.used_bytes(), 0U);
}

TEST_F(AWriter, WhatWaitsInAStripeEndsWithItsStepAlone) {
  open(false);
  take(joined(begin(1, 0, 0, 3), elements));
  take(joined(begin(2, 1, 0, 3), elements));
  file_->settle(0, {ErrorCode::storage_failure, "file \"out\": dropped"});
  EXPECT_EQ(told_, (std::vector<Told>{{1, Became::failed, "file \"out\": dropped"}}));
  file_->fail({ErrorCode::storage_failure, "file \"out\": lost"}, 1);
  EXPECT_EQ(told_.back(), (Told{2, Became::failed, "file \"out\": lost"}));
  EXPECT_EQ(arena_.used_bytes(), 0U);
}

}  // namespace
}  // namespace iocomp::writer
