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
  struct Setup {
    std::string file_name;
    std::int64_t members = 1;
    int writers = 1;
    bool file_per_step = false;
    bool joins_commits = false;  ///< steps that become complete during a commit share the next one
    bool may_overlap = false;
    bool fills_in_turn = false;  ///< writers take nothing of a step before those before it settle
    /// Each step begins with an `Expect`. Else writers know what they are to write and report it
    /// unasked, even before all members have ended the step. They are asked once more where puts
    /// must be looked at, or elements wait in stripes that nobody writes.
    bool asks_writers = true;
    bool syncs_last = false;      ///< a step is made durable by an order of its own, `Sync`
    std::int64_t first_step = 0;  ///< those before it are settled ...
    std::int64_t committed = 0;   ///< ... and so many of them committed
  };
  /// @param others  how far other files have come.
  Coordinator(Setup setup, const contents::Catalogue& catalogue, const Progress& others);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // Reports. A failure has its story already.

  /// Members have ended a step. @param who  for people.
  void ended(const Ended& ended, const std::string& who);
  /// Members close the file; a step with puts that is open is ended by it.
  void closed(const Ended& ended, const std::string& who);
  /// Puts of variables that an `Expect` wants to know, before the writer's `done`.
  void put(std::int64_t step, std::vector<PutRecord> puts);
  /// Writers have done what they were to do with a step: all their pieces of it are written, filled
  /// or durable, or have failed. @param writers  so many speak together.
  void done(std::int64_t step, const Outcome& outcome, int writers = 1);
  /// Steps from this one on cannot be committed any more, except those of a commit under way.
  void failed(const Outcome& outcome, std::int64_t from_step);
  void failed(const Outcome& outcome) { failed(outcome, next_); }
  /// Other files have come further.
  void others_moved() { advance(); }

  // Answers of the lead to `Look`, `Commit`, `Drop` and `Finish`.
  void looked(std::int64_t step, const std::vector<Question>& answered, const Outcome& outcome);
  void committed(const Outcome& outcome);
  void dropped();
  void finished(const Outcome& outcome);

  /// Whether commits wait until they are released, or a step has failed, or all steps are there
  /// that there will be: these share one commit then.
  void hold_commits(bool hold);

  /// The next thing to be done, in order; nothing until the next report.
  [[nodiscard]] std::optional<Order> next_order();

  /// The first step that is not settled.
  [[nodiscard]] std::int64_t next_step() const noexcept { return next_; }
  [[nodiscard]] const Outcome& failure() const noexcept { return loss_.cause; }
  /// Whether a step cannot be committed any more, because of that failure.
  [[nodiscard]] bool is_lost(std::int64_t step) const noexcept {
    return !loss_.cause.ok() && step >= loss_.from;
  }

 private:
  struct Step {
    Ended sum;              // of all members
    bool is_asked = false;  // of writers that have reported unasked
    bool is_synced = false;
    bool is_complete = false;
    Outcome failure;
    std::vector<std::int32_t> unsure;  // variables that may be put twice somewhere
    std::vector<PutRecord> puts;       // of these
    Holes holes;                       // to be filled
    bool waits_for_turn = false;       // with that
  };
  struct Said {  // by writers, in this round
    int done = 0;
    Outcome failure;
  };
  struct Loss {  // of the file
    Outcome cause;
    std::int64_t from = 0;  // this step on
  };
  enum class Busy { no, commits, drops, finishes, over };
  void ended_by_all(const Ended& sum);
  void take_done(std::int64_t number);
  [[nodiscard]] bool has_more_to_ask(const Step& step) const;
  void whole(std::int64_t number, Step& step);
  void complete(std::int64_t step);
  void ask(std::int64_t number, const Step& step);
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
  std::map<std::int64_t, Step> steps_;  // ended by all, not settled
  std::map<std::int64_t, Said> said_;   // also of steps that some have not ended
  std::int64_t next_;                   // the first that is not settled
  std::int64_t committed_;              // how many
  std::int64_t last_in_commit_ = -1;    // under way
  Busy busy_ = Busy::no;
  bool holds_commits_ = false;
  std::optional<std::int64_t> ended_;  // steps, known when all members have closed
  Loss loss_;
  std::deque<Order> orders_;
};

}  // namespace iocomp::steps
