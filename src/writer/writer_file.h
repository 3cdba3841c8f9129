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
#include "formats/format.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "steps/put_log.h"
#include "trace/counters.h"
#include "writer/output_files.h"
#include "writing/piece.h"
#include "writing/stripes.h"

namespace iocomp::writer {

/// A piece as whoever has given it knows it.
struct Given {
  std::int64_t step = 0;
  int variable = -1;         ///< -1: not known
  int rank = -1;             ///< session rank; -1: this one
  std::uint64_t ticket = 0;  ///< 0: nobody waits for it
};

/// A file as each of its writers sees it, in a server or in a compute rank: which pieces of a step
/// are to come and have come, what became of them, and when this process has done what the lead has
/// ordered. Bytes go to its OutputFiles. What concerns the file as a whole is decided by the lead.
class WriterFile {
 public:
  enum class Became { written, durable, failed };
  /// Whoever has the file in this process.
  class Owner {
   public:
    Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    virtual ~Owner() = default;
    virtual void tell(const Given& piece, Became became, const Outcome& outcome) = 0;
    /// Whether somebody waits until a piece is written.
    [[nodiscard]] virtual bool is_awaited(const Given& piece) const = 0;
    /// Tell the lead: want_place, step_done, or home_failed.
    virtual void report(protocol::Kind kind, const protocol::StepNote& note) = 0;
    virtual void report(const protocol::PutReport& puts) = 0;
  };
  struct Setup {
    OutputFiles::Setup files;
    std::string who;  ///< for stories: ", server 2 (rank 5)", or empty
    /// The pieces are blocks of this rank, which knows when all of a step are here. Other ranks may
    /// fill its stripes, and write them.
    bool writes_own_blocks = false;
    bool syncs_last = false;  ///< a step is made durable when that is ordered, not before
    /// Makes a physical file that all writers open together.
    std::function<formats::Target(const Path&, const formats::FormatOptions&)> create{};
    /// Hears of each stripe that is written in parts. May be empty.
    std::function<void(const writing::Stripe&)> writes_parts{};
  };
  /// All are outlived by this, but for the setup and the names.
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
  /// Whether a library writes whole steps, when they are committed.
  [[nodiscard]] bool keeps_steps() const { return files_.traits().writes_whole_steps(); }

  // What the lead orders.
  void place(const protocol::StepNote& note);
  void expect(const protocol::Expectation& expectation);
  /// Write the fill value where nobody has put anything.
  void fill(const protocol::FillOrder& order);
  void make_durable(std::int64_t step);
  void settle(std::int64_t step, const Outcome& outcome);
  /// Steps from this one on fail.
  void fail(const Outcome& outcome, std::int64_t from_step);
  /// Carry out an action of all writers. Collective over them. @throws Error with the failure of
  /// this process.
  void act(const protocol::ActionNote& action);

  // Pieces.
  /// A piece of a step will come.
  [[nodiscard]] std::shared_ptr<writing::Piece> begin(std::int64_t step, const array::Part& part,
                                                      int rank, std::uint64_t ticket);
  /// What the lead may want to know of it.
  void note_put(std::int64_t step, const steps::PutRecord& put) { steps_[step].puts.add(put); }
  /// Nobody knows yet where a variable lies that is put in a step: ask the lead, once.
  void want_place(std::int64_t step, int variable);
  /// A chunk of a piece is here: write it as soon as its place is known. Without bytes where it was
  /// drained.
  void take(writing::Chunk chunk);
  /// Instead: all of a piece was given to its FileWriter. @param is_begun  this process writes
  /// something now.
  void given(const std::shared_ptr<writing::Piece>& piece, bool is_begun);
  /// Instead: others have it, who write it together with this process.
  void passed_on(const std::shared_ptr<writing::Piece>& piece);
  /// Instead: compute ranks have written these themselves; durable, or failed.
  void written_elsewhere(const protocol::OwnWritten& own);
  /// It fails before its bytes are here: those that come are drained.
  void refuse(writing::Piece& piece, const Outcome& outcome);
  /// It fails, and nothing more of it comes.
  void give_up(const std::shared_ptr<writing::Piece>& piece, const Outcome& why);
  /// This rank has put all it has for a step.
  void ended(std::int64_t step);
  /// What was put in a step that others have begun to write.
  void restore(std::int64_t step, steps::PutLog puts) { steps_[step].puts = std::move(puts); }
  /// A piece that they have written.
  void restore(const Given& piece) { steps_[piece.step].unsynced.push_back(piece); }
  /// Something of a step is in the file, or will be, that this process must make durable.
  void note_writing(std::int64_t step) { steps_[step].has_written = true; }
  void fail_step(std::int64_t step, const Outcome& outcome);

  /// Make durable what is written of the physical file of a step.
  void sync(std::int64_t step);
  /// The same with what was passed on. @pre all others who write are on this node.
  void sync_with_others(std::int64_t step);
  /// The same of each physical file. @return whether there was anything.
  bool sync_all();
  /// Steps before this one are made durable when that is ordered; the others later.
  void sync_until(std::int64_t step) noexcept { sync_until_ = step; }
  void write(std::vector<writing::Stripe> stripes);
  /// Write stripes that somebody waits for and nobody adds to; true if there were any.
  bool write_late_stripes(double now);
  /// Go on as far as that is possible now, and report what is done. @return whether anything moved.
  bool advance();

  /// Whether a step has failed with the file.
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from_step;
  }
  [[nodiscard]] const Outcome& lost() const noexcept { return loss_.cause; }
  /// Whether pieces of a step can come: formats that write whole steps take one at a time.
  [[nodiscard]] bool admits(std::int64_t step) const {
    return !keeps_steps() || step <= next_step_ || is_lost(step);
  }
  /// Whether no piece may wait in stripes any more: all members have ended the step.
  [[nodiscard]] bool is_asked(std::int64_t step) const;
  /// Bytes of staging memory that are kept for a step of which more may come.
  [[nodiscard]] std::size_t kept_bytes() const;
  /// The oldest step of which something is being written here; `none` where there is nothing.
  [[nodiscard]] std::int64_t oldest_writing(std::int64_t none) const;
  /// Whether nothing is under way.
  [[nodiscard]] bool is_idle() const;
  /// A story with the file that it is about, and its step if that is not -1.
  [[nodiscard]] Outcome in_file(const Outcome& outcome, std::int64_t step = -1) const {
    return with(outcome, {}, step);
  }
  [[nodiscard]] Outcome in_piece(const writing::Piece& piece, const Outcome& outcome) const {
    return with(outcome, piece.variable.name, piece.step);
  }

 private:
  using Pieces = std::vector<std::shared_ptr<writing::Piece>>;
  struct Loss {  // of the file, from a step on
    Outcome cause;
    std::int64_t from_step = 0;
  };
  struct Step {
    std::int64_t expected = -1;  // pieces; -1: unknown
    std::int64_t begun = 0;
    std::int64_t come = 0;        // to the last byte, or failed
    std::int64_t ended = 0;       // written, or failed
    Pieces joined;                // in stripes that other ranks may fill up or write
    bool has_written = false;     // since the last fsync has begun
    std::vector<Given> unsynced;  // written
    int syncs = 0;                // under way
    std::vector<Given> kept;      // until the step is written as a whole
    Outcome failure;
    bool owes_report = false;  // that it is done ...
    bool owes_sync = false;    // ... and durable
    bool has_reported = false;
    bool is_asked = false;  // all members have ended it
    bool is_settled = false;
    steps::PutLog puts;
    std::vector<std::int32_t> report;  // variables whose puts the lead wants to know
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
  void synced(const std::vector<std::int64_t>& steps, const std::vector<Given>& pieces,
              const Outcome& outcome);
  bool report_done();

  Setup setup_;
  const contents::Catalogue& catalogue_;
  Owner& owner_;
  OutputFiles files_;
  contents::Contents contents_;  // what a file that all open together was told to make room for
  std::map<std::int64_t, Step> steps_;
  std::set<std::pair<std::int64_t, int>> wanted_;  // places: step, variable
  std::map<std::pair<std::int64_t, int>, std::vector<writing::Chunk>> waiting_;  // for these
  std::int64_t next_step_ = 0;  // where whole steps are written: the one that is being taken in
  std::int64_t sync_until_ = INT64_MAX;
  Loss loss_;
  std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);  // false for completions too late
};

}  // namespace iocomp::writer
