// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/exchange/exchange.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/disk_work.h"
#include "client/local/kept_blocks.h"
#include "client/local/output_files.h"
#include "client/local/waiting_writes.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/covers.h"
#include "steps/put_log.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::client {

/// A member of a file as one of its writers: writes the blocks of this rank and what the lead of
/// the file orders, tells tickets what became of them, and reports each step that it has done.
class MemberWriter {
 public:
  /// Gives a block to a writer of a file: see BlockWriter::write.
  using WriteBlock =
      std::function<GivenBlock(const Block&, writing::FileWriter&, std::int64_t offset, bool joins,
                               std::function<void(const Outcome&)> done)>;
  struct Setup {
    std::uint64_t key = 0;
    std::string name;
    OutputFiles::Setup files;
    WriteBlock write_block;    ///< while the program goes on; else empty: calls wait
    DiskWork* disk = nullptr;  ///< of what is written so
    // Where calls wait:
    std::unique_ptr<Exchange> exchange;  ///< null: no blocks are exchanged
    MPI_Comm openers = MPI_COMM_NULL;    ///< the members in the order that opens MPI files
  };
  struct Step {
    steps::Covers variables;                                    // put by this rank
    steps::PutLog puts;                                         // of which these are the sum
    std::size_t writing = 0;                                    // blocks and fills
    std::vector<std::shared_ptr<const writing::Piece>> joined;  // blocks of these in stripes
    bool has_written = false;                                   // since the last fsync
    std::vector<std::uint64_t> written;                         // tickets, not durable
    std::vector<std::uint64_t> given;  // tickets that a library writes, or other ranks
    Outcome failure;                   // on this rank
    bool owes_report = false;          // that it is done ...
    bool owes_sync = false;            // ... and durable
    bool is_syncing = false;
    bool is_ended = false;
    bool is_asked = false;     // nothing waits in stripes any more
    bool is_expected = false;  // where calls wait: all members are here and have said what they put
    bool is_exchanged = false;  // blocks of some ranks will be
    bool is_whole = false;      // written by all
  };
  MemberWriter(Setup setup, commit::Publication names, FileCouncil& council, Link& link,
               const contents::Catalogue& catalogue);
  ~MemberWriter() { *is_here_ = false; }
  MemberWriter(const MemberWriter&) = delete;
  MemberWriter& operator=(const MemberWriter&) = delete;

  [[nodiscard]] bool waits() const noexcept { return !setup_.write_block; }
  /// Whether a library writes whole steps, when they are committed.
  [[nodiscard]] bool keeps_steps() const {
    return setup_.files.format->traits().writes_whole_steps();
  }
  [[nodiscard]] bool is_readable_while_open() const {
    return setup_.files.format->traits().readable_while_open;
  }
  [[nodiscard]] OutputFiles& files() noexcept { return files_; }
  [[nodiscard]] Step& step(std::int64_t number) { return steps_[number]; }
  /// Null where nothing is known of it, or it is settled.
  [[nodiscard]] const Step* find(std::int64_t number) const;
  /// Why steps from this one on cannot be committed any more.
  [[nodiscard]] const Outcome& lost() const noexcept { return loss_.cause; }
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from_step;
  }
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step = -1) const;

  // What this rank does.
  void put(const Block& block);
  void put_nothing(const Block& block);
  /// What is called when a block is written, or cannot be. @pre it counts among those being written
  [[nodiscard]] std::function<void(const Outcome&)> when_written(const Block& block);
  /// It has put all it has for a step. @param exchanges  some rank has blocks to be exchanged.
  protocol::StepCounts end(std::int64_t step, bool exchanges, const PutSums& sums);
  /// Whether it has blocks of the step that are better exchanged.
  [[nodiscard]] bool exchanges(std::int64_t step) const;
  /// See Carrier::urge.
  void urge(std::uint64_t ticket, State state);
  /// Where calls wait: steps before this one are made durable when that is ordered.
  void sync_until(std::int64_t step) noexcept { sync_until_ = step; }
  /// The oldest step of which this rank is writing something; `none` where there is nothing.
  [[nodiscard]] std::int64_t oldest_writing(std::int64_t none) const;

  // What the lead orders.
  void placed(const protocol::StepNote& note);
  void expect(const protocol::Expectation& expectation);
  void fill(const protocol::FillOrder& order);
  void make_durable(std::int64_t number);
  void settle(std::int64_t number, const Outcome& outcome);
  /// Steps from this one on fail.
  void fail(const Outcome& outcome, std::int64_t from_step);
  /// Nobody commits the physical files from this number on.
  void remove_uncommitted(std::int64_t from) const noexcept { files_.remove_uncommitted(from); }
  /// Carry out an action of all writers. Collective over them. @throws Error with the failure of
  /// this rank.
  void act(const protocol::ActionNote& action);

  /// Go on as far as that is possible now. @return whether anything moved.
  bool advance();

 private:
  [[nodiscard]] bool can_write(const Block& block) const;
  [[nodiscard]] bool is_created(std::int64_t number);
  void go_on(std::int64_t number);
  void write(const KeptBlocks::Kept& kept);
  struct Owed {  // what is left to be known of a block that is being written
    std::int64_t step;
    std::uint64_t ticket;
    int variable;
    bool is_buffered;
  };
  [[nodiscard]] static Owed owed(const Block& block) noexcept {
    return {block.step, block.ticket, block.variable.id, block.buffered};
  }
  void block_written(const Owed& block, const Outcome& outcome);
  void fail_block(const Owed& block, const Outcome& outcome);
  [[nodiscard]] static bool is_writing(const Step& step);
  void note_given(const Block& block, GivenBlock given);
  bool write_stripes();
  void write_stripe(writing::Stripe stripe);
  bool write_kept();
  void exchange(std::int64_t number);
  void check_is_of_this_node(const Ticket& ticket) const;
  void sync_for(std::uint64_t ticket);
  void fail_late(std::int64_t number, const Outcome& outcome);
  bool report_done();
  void sync(std::int64_t number, Step& step);
  void synced(std::int64_t number, const std::vector<std::uint64_t>& tickets,
              const Outcome& outcome);
  void make_tickets_durable(const std::vector<std::uint64_t>& tickets, const Outcome& outcome);

  Setup setup_;
  FileCouncil& council_;
  Link& link_;
  const contents::Catalogue& catalogue_;
  OutputFiles files_;
  KeptBlocks kept_;
  WaitingWrites waiting_writes_;
  contents::Contents contents_;                    // what an MPI file was told to make room for
  std::map<std::int64_t, Step> steps_;             // not settled
  std::set<std::pair<std::int64_t, int>> wanted_;  // places: step, variable
  bool has_news_ = false;                          // for blocks that are kept
  std::set<std::uint64_t> awaited_;                // tickets that are to be written soon
  std::int64_t sync_until_ = INT64_MAX;
  struct Loss {
    Outcome cause;
    std::int64_t from_step = 0;
  };
  Loss loss_;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);  // false for completions too late
};

}  // namespace iocomp::client
