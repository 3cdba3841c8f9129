// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "array/coverage.h"
#include "base/error.h"
#include "base/path.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/put_log.h"
#include "trace/counters.h"
#include "writer/output_files.h"
#include "writing/piece.h"
#include "writing/stripes.h"
#include "writing/together.h"

namespace iocomp::writer {

/// Tells whoever has given a piece which one it is.
struct Given {
  std::int64_t step = 0;
  int variable = -1;         ///< -1: not known
  int rank = -1;             ///< session rank; -1: this one
  std::uint64_t ticket = 0;  ///< 0: nobody waits for it
};

/// A file at one of its writers, in a server or in a compute rank. It knows which pieces of a step
/// must come and have come, what became of them, and when this process has carried out the orders
/// of the lead. Its OutputFiles write the bytes. The lead decides what concerns the file as a
/// whole.
class WriterFile {
 public:
  enum class Became { written, durable, failed };
  /// The owner of the file in this process. It hears of pieces, and brings reports to the lead.
  class Owner {
   public:
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;
    virtual void tell(const Given& piece, Became became, const Outcome& outcome) = 0;
    /// True if somebody waits until a piece is written.
    [[nodiscard]] virtual bool is_awaited(const Given& piece) const = 0;
    /// Tell the lead: want_place, step_done, or home_failed.
    virtual void report(protocol::Kind kind, const protocol::StepNote& note) = 0;
    virtual void report(const protocol::PutReport& puts) = 0;
  };
  struct Setup {
    OutputFiles::Setup files;
    std::string who;  ///< for messages: ", server 2 (rank 5)", or empty
    /// The pieces are blocks of this rank, which knows when all of a step are here. Other ranks may
    /// fill and write its stripes.
    bool writes_own_blocks = false;
    bool syncs_last = false;  ///< a step is made durable only when that is ordered
    bool lead_syncs = false;  ///< the lead does that: see commit::lead_syncs
    /// Makes a physical file that all writers open together.
    std::function<formats::Target(const Path&, const formats::FormatOptions&)> create{};
    /// Called for each stripe that is written in parts. May be empty.
    std::function<void(const writing::Stripe&)> writes_parts{};
  };
  /// The catalogue, the counters and the owner must outlive this object.
  WriterFile(Setup setup, commit::Publication names, const contents::Catalogue& catalogue,
             trace::Counters& counters, Owner& owner)
      : setup_{std::move(setup)},
        catalogue_{catalogue},
        owner_{owner},
        files_{setup_.files, std::move(names), catalogue, counters} {}
  ~WriterFile() { *is_here_ = false; }
  WriterFile(const WriterFile&) = delete;
  WriterFile& operator=(const WriterFile&) = delete;

  [[nodiscard]] OutputFiles& files() noexcept { return files_; }
  [[nodiscard]] const OutputFiles& files() const noexcept { return files_; }
  /// True if a library writes whole steps, when they are committed.
  [[nodiscard]] bool keeps_steps() const { return files_.traits().writes_whole_steps(); }
  /// True if the lead makes steps durable.
  [[nodiscard]] bool lead_syncs() const noexcept { return setup_.lead_syncs; }

  // Orders of the lead.
  void place(const protocol::StepNote& note);
  void expect(const protocol::Expectation& expectation);
  /// Write the fill value where nobody has put anything.
  void fill(const protocol::FillOrder& order);
  void make_durable(std::int64_t step);
  void settle(std::int64_t step, const Outcome& outcome);
  /// All steps from this one on fail.
  void fail(const Outcome& outcome, std::int64_t from_step);
  /// Make an action of all writers ready. No pieces are given to the file until it has ended.
  [[nodiscard]] writing::Act act_of(const protocol::ActionNote& action);
  /// Carry it out here and now. Collective over the writers. @throws Error with the failure of this
  /// process.
  void act(const protocol::ActionNote& action);

  // Pieces.
  /// Announce a piece of a step.
  [[nodiscard]] std::shared_ptr<writing::Piece> begin(std::int64_t step, const array::Part& part,
                                                      int rank, std::uint64_t ticket);
  /// Note a put, because the lead may ask for it.
  void note_put(std::int64_t step, const steps::PutRecord& put) { steps_[step].puts.add(put); }
  /// Ask the lead, once, for the place of a variable that is put in a step.
  void want_place(std::int64_t step, int variable);
  /// A chunk of a piece is here. It is written as soon as its place is known. A chunk that was
  /// drained has no bytes.
  void take(writing::Chunk chunk);
  /// Called instead of `take`: all of a piece was given to its FileWriter.
  /// @param is_begun  true if this process writes something now.
  void given(const std::shared_ptr<writing::Piece>& piece, bool is_begun);
  /// Called instead of `take`: others have the piece, and write it together with this process.
  void passed_on(const std::shared_ptr<writing::Piece>& piece);
  /// Called instead of `take`: compute ranks have written these themselves. They are durable, or
  /// failed.
  void written_elsewhere(const protocol::OwnWritten& own);
  /// A piece fails before its bytes are here. Bytes that come are drained.
  void refuse(writing::Piece& piece, const Outcome& outcome);
  /// A piece fails, and nothing more of it comes.
  void give_up(const std::shared_ptr<writing::Piece>& piece, const Outcome& why);
  /// This rank has put all it has for a step.
  void ended(std::int64_t step);
  /// Take in the puts of a step that others have begun to write.
  void restore(std::int64_t step, steps::PutLog puts) { steps_[step].puts = std::move(puts); }
  /// Take in a piece that those have written.
  void restore(const Given& piece) { steps_[piece.step].unsynced.push_back(piece); }
  /// Something of a step is in the file, or will be, and this process must make it durable.
  void note_writing(std::int64_t step) { steps_[step].has_written = true; }
  void fail_step(std::int64_t step, const Outcome& outcome);

  /// Make durable what is written of the physical file of a step.
  void sync(std::int64_t step);
  /// The same with pieces that were passed on. @pre all who write them are on this node.
  void sync_with_others(std::int64_t step);
  /// The same for each physical file. @return true if there was anything.
  bool sync_all();
  /// Steps before this one are made durable as ordered, and the others later.
  void sync_until(std::int64_t step) noexcept { sync_until_ = step; }
  void write(std::vector<writing::Stripe> stripes);
  /// Write stripes that somebody waits for and nobody adds to. @return true if there were any.
  bool write_late_stripes(double now);
  /// Go on as far as possible now, and report what is done. @return true if anything moved.
  bool advance();

  /// True if a step has failed with the file.
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from_step;
  }
  [[nodiscard]] const Outcome& lost() const noexcept { return loss_.cause; }
  /// True if pieces of a step can come. Formats that write whole steps take one step at a time.
  [[nodiscard]] bool admits(std::int64_t step) const {
    return !keeps_steps() || step <= next_step_ || is_lost(step);
  }
  /// True if pieces may no longer wait in stripes.
  [[nodiscard]] bool is_asked(std::int64_t step) const;
  /// Bytes of staging memory that are kept for steps of which more may come.
  [[nodiscard]] std::size_t kept_bytes() const;
  /// The oldest step that is being written here; `none` if there is no such step.
  [[nodiscard]] std::int64_t oldest_writing(std::int64_t none) const;
  /// True if nothing is under way.
  [[nodiscard]] bool is_idle() const;
  /// An outcome whose story names the file, and the step unless that is -1.
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step = -1) const {
    return with(outcome, {}, step);
  }
  [[nodiscard]] Outcome in_piece(const writing::Piece& piece, const Outcome& outcome) const {
    return with(outcome, piece.variable.name, piece.step);
  }

 private:
  using Pieces = std::vector<std::shared_ptr<writing::Piece>>;
  struct Loss {  // the file fails, from a step on
    Outcome cause;
    std::int64_t from_step = 0;
  };
  struct Step {
    std::int64_t expected = -1;  // pieces; -1: unknown
    std::int64_t begun = 0;
    std::int64_t come = 0;        // pieces that are here to the last byte, or failed
    std::int64_t ended = 0;       // pieces that are written, or failed
    Pieces joined;                // pieces in stripes that other ranks may fill or write
    bool has_written = false;     // since the last fsync began
    std::vector<Given> unsynced;  // written pieces that are not durable
    std::vector<Given> kept;      // pieces until the step is written as a whole
    Outcome failure;
    bool owes_report = false;  // when the step is done ...
    bool owes_sync = false;    // ... and durable
    bool has_reported = false;
    bool is_asked = false;  // all members have ended the step, and what waits in stripes is due
    bool is_settled = false;
    steps::PutLog puts;
    std::vector<std::int32_t> report;  // variables whose puts the lead wants to know
  };

  struct Sync {  // an fsync under way
    std::int64_t target = -1;
    std::shared_ptr<const disk::OutputFile> file;
    std::vector<std::int64_t> steps;  // those that had written, unless they are settled now
    std::vector<Given> pieces;        // of these; written
  };

  [[nodiscard]] static std::int64_t with_others(const Step& step);
  [[nodiscard]] bool is_done(const Step& step) const {
    return step.expected >= 0 && step.ended + with_others(step) >= step.expected;
  }
  [[nodiscard]] Outcome with(const Outcome& outcome, const std::string& variable,
                             std::int64_t step) const;
  void tell(const Given& piece, Became became, const Outcome& outcome = {}) {
    if (piece.ticket != 0) {
      owner_.tell(piece, became, outcome);
    }
  }
  void tell(const std::vector<Given>& pieces, Became became, const Outcome& outcome = {});
  void write_placed(writing::Chunk chunk);
  void end_waiting(std::int64_t from, std::int64_t to, const Outcome& outcome);
  void came(writing::Piece& piece, std::int64_t elements);
  void check_stripes(std::int64_t number, const Step& step);
  void piece_ended(writing::Piece& piece);
  void synced(int number, const Outcome& outcome);
  [[nodiscard]] bool is_syncing(std::int64_t step) const;
  void forget_syncs(std::int64_t step, bool is_durable);
  void check_file(std::int64_t step);
  bool report_done();

  Setup setup_;
  const contents::Catalogue& catalogue_;
  Owner& owner_;
  OutputFiles files_;
  contents::Contents contents_;  // of a file that all open together
  std::map<std::int64_t, Step> steps_;
  std::map<int, Sync> syncs_;
  int last_sync_ = 0;
  std::set<std::pair<std::int64_t, int>> wanted_;  // places asked for: step, variable
  std::map<std::pair<std::int64_t, int>, std::vector<writing::Chunk>> waiting_;  // for these
  std::int64_t next_step_ = 0;  // the whole step that is being taken in
  std::int64_t sync_until_ = INT64_MAX;
  Loss loss_;
  // false when a completion comes too late
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace iocomp::writer
