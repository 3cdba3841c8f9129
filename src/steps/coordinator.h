// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "contents/catalogue.h"
#include "steps/coverage.h"
#include "steps/ended.h"
#include "steps/ends.h"
#include "steps/orders.h"
#include "steps/predecessors.h"
#include "steps/put_log.h"

namespace iocomp::steps {

/// Decides what becomes of the steps of one file: when a step is complete, covered, filled,
/// durable, committed or dropped. Reports go in, orders come out; it knows no MPI, no disk and no
/// clock. One for each file, on its lead.
///
/// Members put and end steps; writers bring pieces into the file and make them durable. Where
/// members write for themselves they are both.
class Coordinator {
 public:
  /// The largest number of steps that may wait for an earlier one. Members end their steps in turn,
  /// so no correct program comes so far.
  static constexpr std::int64_t most_unsettled = std::int64_t{1} << 16;

  struct Setup {
    std::string file_name;
    std::int64_t members = 1;
    int writers = 1;
    bool file_per_step = false;
    bool joins_commits = false;  ///< steps that become complete during a commit share the next one
    bool may_overlap = false;
    /// Writers take no pieces of a step until all earlier steps have settled.
    bool fills_in_turn = false;
    /// True if each step begins with an `Expect`. Otherwise the writers know what they are to
    /// write, and report it unasked, even before all members have ended the step. They are asked
    /// once more if puts must be looked at, or if elements wait in stripes that nobody writes.
    bool asks_writers = true;
    /// All writers fill the same stripes: those that nobody writes may become full with gaps
    /// (`Coverage::Unput`).
    bool fills_gaps = false;
    bool syncs_last = false;      ///< a step is made durable by an order of its own, `Sync`
    std::int64_t first_step = 0;  ///< earlier steps are settled
    std::int64_t committed = 0;   ///< number of those that are committed
  };
  /// @param others  the progress of other files.
  Coordinator(Setup setup, const contents::Catalogue& catalogue, const Progress& others);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Reports. Each failure that comes in has its full story.

  /// Some members have ended a step. @param who  names them in messages.
  void ended(const Ended& ended, const std::string& who);
  /// Some members close the file. An open step that has puts is ended by it.
  void closed(const Ended& ended, const std::string& who);
  /// The puts of variables that an `Expect` asked for. They come before the writer's `done`.
  void put(std::int64_t step, std::vector<PutRecord> puts);
  /// Some writers have done what they were to do with a step: all their pieces of it are written,
  /// filled or durable, or have failed. @param writers  their number.
  void done(std::int64_t step, const Outcome& outcome, int writers = 1);
  /// Steps from this one on can no longer be committed, except those of a commit under way.
  void failed(const Outcome& outcome, std::int64_t from_step);
  void failed(const Outcome& outcome) { failed(outcome, next_); }
  /// Other files have made progress.
  void others_moved() { advance(); }

  // Answers of the lead to `Look`, `Commit`, `Drop` and `Finish`.
  void looked(std::int64_t step, const std::vector<Question>& answered, const Outcome& outcome);
  void committed(const Outcome& outcome);
  void dropped();
  void finished(const Outcome& outcome);

  /// Hold commits back until they are released, until a step has failed, or until no more steps can
  /// come. The steps that waited share one commit.
  void hold_commits(bool hold);

  /// The next order to carry out; nothing until another report comes.
  [[nodiscard]] std::optional<Order> next_order();

  /// The first step that is not settled.
  [[nodiscard]] std::int64_t next_step() const noexcept { return next_; }
  [[nodiscard]] const Outcome& failure() const noexcept { return loss_.cause; }
  /// True if a step can no longer be committed because of that failure.
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from;
  }

 private:
  struct Step {
    Ended sum;                        // over all members
    bool are_puts_asked_for = false;  // writers that reported unasked were asked for them
    bool are_stripes_ended = false;   // and for what waits in stripes
    bool is_synced = false;
    bool is_complete = false;
    Outcome failure;
    std::vector<std::int32_t> unsure;  // variables whose puts must be looked at
    std::vector<PutRecord> puts;       // the puts of these variables
    Coverage::Unput unput;
    bool waits_for_turn = false;  // the filling waits until earlier steps have settled
  };
  struct Said {  // reports of writers in this round
    int done = 0;
    Outcome failure;
  };
  struct Loss {  // a failure of the file
    Outcome cause;
    std::int64_t from = 0;  // first step that is lost
  };
  enum class Busy { no, commits, drops, finishes, over };
  void ended_by_all(const Ended& sum);
  void take_done(std::int64_t number);
  [[nodiscard]] bool has_stripes(const Step& step) const;
  [[nodiscard]] static bool has_values(const Step& step);
  void whole(std::int64_t number, Step& step);
  void complete(std::int64_t step);
  void ask(std::int64_t number, const Step& step, bool ends_stripes);
  void look(std::int64_t number, Step& step);
  void advance();
  [[nodiscard]] std::string name_of(std::int64_t step) const;
  [[nodiscard]] bool is_its_turn(std::int64_t number, Step& step) const;
  [[nodiscard]] bool are_all_complete() const;
  void commit();
  void drop(std::int64_t step);
  void end_file();
  void settle(std::int64_t step, const Outcome& outcome);

  Setup setup_;
  Ends ends_;
  const contents::Catalogue& catalogue_;
  const Progress& others_;
  Coverage coverage_;
  std::map<std::int64_t, Step> steps_;  // ended by all members and not settled
  std::map<std::int64_t, Said> said_;   // also for steps that some members have not ended
  std::int64_t next_;                   // the first step that is not settled
  std::int64_t committed_;              // number of committed steps
  std::int64_t last_in_commit_ = -1;    // the last step of the commit under way
  Busy busy_ = Busy::no;
  bool holds_commits_ = false;
  std::optional<std::int64_t> ended_;  // number of steps, known when all members have closed
  Loss loss_;
  std::deque<Order> orders_;
};

}  // namespace iocomp::steps
