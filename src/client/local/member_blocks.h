// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/side_jobs.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/exchange/exchange.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/disk_work.h"
#include "client/local/kept_blocks.h"
#include "client/local/waiting_writes.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/covers.h"
#include "writer/writer_file.h"
#include "writing/file_writer.h"
#include "writing/piece.h"

namespace iocomp::client {

class Link;

/// Warns once about each variable that is written in many short runs, each by itself, and names it
/// in the summary. That is slow, and the program or its settings can do something about it.
class ShortRuns {
 public:
  /// This number of runs in one piece of a variable is worth a warning.
  static constexpr std::int64_t many = 1000;
  /// The longest run that counts as short, in bytes. Longer runs cost little by themselves.
  static constexpr std::int64_t longest = std::int64_t{64} << 10;

  /// @param file  its name in the program.
  ShortRuns(std::string file, Link& link) : file_{std::move(file)}, link_{link} {}

  /// Takes note of runs of the variable that go to the disk one by one, and of their elements in
  /// all.
  /// @param why  the text behind "because", and what helps.
  void note(const contents::Variable& variable, std::int64_t runs, std::int64_t elements,
            const char* why);

 private:
  std::string file_;
  Link& link_;
  std::set<int> told_;  // variables
};

/// The blocks of this rank in a file that its members write. It knows which blocks wait, and for
/// what. It gives them to the WriterFile of this rank, and notes in their tickets what became of
/// them.
class MemberBlocks : private writer::WriterFile::Owner {
 public:
  /// Gives a block to a writer of a file: see BlockWriter::write.
  using WriteBlock = std::function<GivenBlock(const Block&, const std::shared_ptr<writing::Piece>&,
                                              writing::FileWriter&, bool joins)>;
  struct Setup {
    std::uint64_t key = 0;
    writer::WriterFile::Setup writer;
    WriteBlock write_block;    ///< used while the program goes on; empty if calls wait
    DiskWork* disk = nullptr;  ///< for blocks that are written so
    /// If a thread carries out the actions of all members: set when nobody waits for them any more.
    std::shared_ptr<std::atomic<bool>> given_up{};
    // If calls wait:
    std::unique_ptr<Exchange> exchange;  ///< null: no blocks are exchanged
  };
  MemberBlocks(Setup setup, commit::Publication names, FileCouncil& council, Link& link,
               const contents::Catalogue& catalogue);
  ~MemberBlocks() override { end_acts(); }
  MemberBlocks(const MemberBlocks&) = delete;
  MemberBlocks& operator=(const MemberBlocks&) = delete;

  [[nodiscard]] writer::WriterFile& file() noexcept { return file_; }
  [[nodiscard]] const writer::WriterFile& file() const noexcept { return file_; }

  // Calls of this rank.
  void put(const Block& block);
  void put_nothing(const Block& block);
  /// This rank has put all it has for a step. @param exchanges  some rank has blocks to exchange.
  protocol::StepCounts end(std::int64_t step, bool exchanges, const PutSums& sums);
  /// True if this rank has blocks of the step that are better exchanged.
  [[nodiscard]] bool exchanges(std::int64_t step) const;
  /// See Carrier::urge.
  void urge(std::uint64_t ticket, State state);
  /// Take in the puts of this rank in a step before others began to write the file.
  void restore(std::int64_t step, steps::Covers variables) {
    steps_[step].variables = std::move(variables);
  }

  // Called after orders of the lead, most of which are for the WriterFile.
  void placed(const protocol::StepNote& note);
  void all_ended(const protocol::Expectation& expectation);
  void filled(std::int64_t step);
  void is_whole(std::int64_t step) { steps_[step].is_whole = true; }
  void settled(std::int64_t step, const Outcome& outcome);
  void failed(const Outcome& outcome, std::int64_t from_step);
  /// Carry out an action of all members, here and now or in a thread, and report it.
  void act(const protocol::ActionNote& action);
  /// True if a thread has the file. Until `advance` finds that it has ended, no order is obeyed.
  [[nodiscard]] bool acts() const noexcept { return actions_.are_any(); }
  /// Give up what the thread does, and wait for its end.
  void end_acts();

  /// If calls wait: true if all members have written the step, and it is not settled.
  [[nodiscard]] bool has_whole(std::int64_t step) const;
  /// Go on as far as possible now. @return true if anything moved.
  bool advance();

 private:
  struct Step {               // not settled
    steps::Covers variables;  // put by this rank
    bool is_ended = false;
    // If calls wait, or the file keeps steps:
    std::optional<protocol::Expectation> expectation;  // all members have ended the step, ...
    bool is_expected = false;                          // and have said what they put
    // If calls wait:
    bool is_exchanged = false;  // blocks of some ranks will be exchanged
    bool is_whole = false;      // all have written it
  };
  void tell(const writer::Given& piece, writer::WriterFile::Became became,
            const Outcome& outcome) override;
  [[nodiscard]] bool is_awaited(const writer::Given& piece) const override {
    return awaited_.contains(piece.ticket);
  }
  void report(protocol::Kind kind, const protocol::StepNote& note) override {
    council_.reports().note(kind, note);
  }
  void report(const protocol::PutReport& puts) override {
    council_.pass(protocol::encode(setup_.key, protocol::Kind::put_report, puts));
  }

  [[nodiscard]] writer::WriterFile::Setup writer_setup();
  [[nodiscard]] bool waits() const noexcept { return !setup_.write_block; }
  [[nodiscard]] bool can_write(const Block& block) const;
  [[nodiscard]] bool is_created(std::int64_t step);
  void go_on(std::int64_t step);
  void acted(protocol::ActionNote action, const Outcome& outcome);
  void write(const KeptBlocks::Kept& kept);
  void note_given(const KeptBlocks::Kept& kept, const GivenBlock& given);
  void advise(const writing::Stripe& stripe);
  bool write_kept();
  void give_up_kept(std::int64_t step, const Outcome& outcome);
  void exchange(std::int64_t step);
  void urge_step(const Ticket& ticket, const Block* kept, State state, bool is_ended);
  void check_is_of_this_node(const Ticket& ticket) const;
  void sync_for(std::uint64_t ticket);

  Setup setup_;
  FileCouncil& council_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  ShortRuns short_runs_;
  writer::WriterFile file_;
  KeptBlocks kept_;
  WaitingWrites waiting_writes_;
  std::map<std::int64_t, Step> steps_;
  bool has_news_ = false;            // there is news for blocks that are kept
  std::set<std::uint64_t> awaited_;  // tickets that must be written soon
  SideJobs actions_;
};

}  // namespace iocomp::client
