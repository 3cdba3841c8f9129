// SPDX-License-Identifier: BSD-3-Clause
#include "writer/writer_file.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/run_list.h"
#include "base/bug.h"
#include "base/error.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "writer/output_files.h"
#include "writing/file_writer.h"
#include "writing/piece.h"
#include "writing/step_output.h"
#include "writing/stripes.h"
#include "writing/together.h"

namespace iocomp::writer {
namespace {

constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

Given given_of(const writing::Piece& piece) {
  return {piece.step, piece.variable.id, piece.giver.rank, piece.giver.ticket};
}

}  // namespace

Outcome WriterFile::with(const Outcome& outcome, const std::string& variable,
                         std::int64_t step) const {
  const std::string when =
      step < 0 ? std::string{} : ", step " + std::to_string(catalogue_.number(step));
  const std::string of = variable.empty() ? std::string{} : ", variable \"" + variable + '"';
  return iocomp::in_file(outcome, files_.names().name(), of + when + setup_.who);
}

void WriterFile::tell(const std::vector<Given>& pieces, Became became, const Outcome& outcome) {
  for (const Given& piece : pieces) {
    tell(piece, became, outcome);
  }
}

// These functions follow a piece from its announcement until all of its bytes are here.

std::shared_ptr<writing::Piece> WriterFile::begin(std::int64_t step, const array::Part& part,
                                                  int rank, std::uint64_t ticket) {
  auto piece = std::make_shared<writing::Piece>();
  piece->step = step;
  piece->region = part.region;
  piece->first = part.first;
  piece->elements_left = part.count;
  piece->ended = [this, here = is_here_](const auto& ended) {
    if (*here) {
      piece_ended(*ended);
    }
  };
  piece->giver = {.rank = rank, .ticket = ticket, .elements_to_come = part.count};
  ++steps_[step].begun;
  return piece;
}

void WriterFile::want_place(std::int64_t step, int variable) {
  if (wanted_.emplace(step, variable).second) {
    owner_.report(protocol::Kind::want_place, {step, variable, catalogue_.events(), {}});
  }
}

void WriterFile::take(writing::Chunk chunk) {
  const auto piece = chunk.piece;
  if (is_lost(piece->step)) {
    refuse(*piece, loss_.cause);
  }
  if (!piece->failure.ok()) {
    const std::int64_t elements = chunk.count;
    writing::end(std::move(chunk));
    came(*piece, elements);
  } else if (files_.place(piece->variable.id, piece->step)) {
    write_placed(std::move(chunk));
  } else {  // the lead prepares the physical file first
    want_place(piece->step, piece->variable.id);
    waiting_[{piece->step, piece->variable.id}].push_back(std::move(chunk));
  }
}

void WriterFile::write_placed(writing::Chunk chunk) {
  const auto piece = chunk.piece;
  const std::int64_t elements = chunk.count;
  if (const auto place = files_.place(piece->variable.id, piece->step); !place->ok()) {
    refuse(*piece, *place);
  } else {
    piece->offset = files_.offset(piece->variable.id, piece->step);
    steps_[piece->step].has_written = true;
  }
  files_.writer_of(piece->step).write(std::move(chunk));
  came(*piece, elements);
}

void WriterFile::came(writing::Piece& piece, std::int64_t elements) {
  piece.giver.elements_to_come -= elements;
  if (piece.giver.elements_to_come == 0) {
    Step& step = steps_[piece.step];
    ++step.come;
    check_stripes(piece.step, step);
  }
}

void WriterFile::given(const std::shared_ptr<writing::Piece>& piece, bool is_begun) {
  Step& step = steps_[piece->step];
  step.has_written = step.has_written || is_begun;
  if (piece->is_joined() && piece->elements_left > 0) {
    step.joined.push_back(piece);
  }
  if (piece->giver.elements_to_come > 0) {
    came(*piece, piece->giver.elements_to_come);
  }
}

void WriterFile::passed_on(const std::shared_ptr<writing::Piece>& piece) {
  Step& step = steps_[piece->step];
  step.has_written = true;
  step.kept.push_back(given_of(*piece));
  ++step.come;
  ++step.ended;
}

void WriterFile::written_elsewhere(const protocol::OwnWritten& own) {
  if (is_lost(own.step)) {
    return;
  }
  Step& step = steps_[own.step];
  for (std::int64_t* const count : {&step.begun, &step.come, &step.ended}) {
    *count += std::ssize(own.puts);
  }
  fail_step(own.step, own.outcome);
  for (const auto& put : own.puts) {
    step.puts.add(put);
  }
  check_stripes(own.step, step);
}

void WriterFile::ended(std::int64_t number) {
  Step& step = steps_[number];
  step.expected = step.begun;
  if (!setup_.syncs_last && !keeps_steps()) {  // report unasked
    step.owes_report = step.owes_sync = true;
  }
}

// When a step is here as a whole, its stripes become no fuller. Elements that were not put stay
// holes.
void WriterFile::check_stripes(std::int64_t number, const Step& step) {
  const bool are_all_here = setup_.writes_own_blocks || step.come >= step.expected;
  if (step.is_asked && are_all_here && files_.stripes() != nullptr) {
    write(files_.stripes()->withdraw_step(number));
  }
}

void WriterFile::write(std::vector<writing::Stripe> stripes) {
  for (auto& stripe : stripes) {
    Step& step = steps_[stripe.step];
    step.has_written = step.has_written || !has_bug(Bug::stripe_not_synced);
    if (setup_.writes_parts && !stripe.is_whole) {
      setup_.writes_parts(stripe);
    }
    files_.writer_of(stripe.step).write(std::move(stripe));
  }
}

bool WriterFile::write_late_stripes(double now) {
  auto late = files_.stripes()->withdraw_late(now, [this](const writing::Stripe& stripe) {
    return std::ranges::any_of(stripe.parts, [this](const auto& part) {
      return owner_.is_awaited(given_of(*part.piece));
    });
  });
  const bool any = !late.empty();
  write(std::move(late));
  return any;
}

// These functions tell what became of pieces.

void WriterFile::refuse(writing::Piece& piece, const Outcome& outcome) {
  if (std::exchange(piece.giver.is_told, true)) {
    return;
  }
  piece.failure = outcome;
  tell(given_of(piece), Became::failed, outcome);
  fail_step(piece.step, outcome);
}

void WriterFile::give_up(const std::shared_ptr<writing::Piece>& piece, const Outcome& why) {
  piece->failure = piece->failure.ok() ? why : piece->failure;
  if (const auto ended = std::exchange(piece->ended, {})) {
    ended(piece);
  }
}

// A step with a failed piece is not committed, even if it was reported as done.
void WriterFile::fail_step(std::int64_t number, const Outcome& outcome) {
  Step& step = steps_[number];
  if (outcome.ok() || !step.failure.ok()) {
    return;
  }
  step.failure = in_file(outcome, number);
  if (step.has_reported && !step.owes_report && !step.is_settled && !is_lost(number)) {
    owner_.report(protocol::Kind::home_failed, {number, -1, 0, step.failure});
  }
}

void WriterFile::piece_ended(writing::Piece& piece) {
  Step& step = steps_[piece.step];
  step.ended += has_bug(Bug::piece_counted_twice) ? 2 : 1;
  if (std::exchange(piece.giver.elements_to_come, 0) > 0) {
    ++step.come;
    check_stripes(piece.step, step);
  }
  std::erase_if(step.joined, [](const auto& joined) { return joined->elements_left == 0; });
  if (!piece.failure.ok()) {
    refuse(piece, in_piece(piece, piece.failure));
  } else if (keeps_steps()) {  // its giver hears of it when the step is settled
    step.kept.push_back(given_of(piece));
  } else {
    if (!step.is_settled) {
      step.unsynced.push_back(given_of(piece));
    }
    tell(given_of(piece), Became::written);
  }
  if (step.is_settled && step.ended >= step.begun) {
    steps_.erase(piece.step);
  }
}

// Syncs all that is written of the physical file. So later steps in it need not ask again.
void WriterFile::sync(std::int64_t step) {
  const std::int64_t target = files_.target_of(step);
  writing::FileWriter& writer = files_.writer(target);
  const int number = ++last_sync_;
  Sync& sync = syncs_[number];
  sync.target = target;
  sync.file = writer.file().opened();
  for (auto& [other, one] : steps_) {
    if (files_.target_of(other) == target && (one.has_written || !one.unsynced.empty())) {
      sync.steps.push_back(other);
      std::ranges::move(std::exchange(one.unsynced, {}), std::back_inserter(sync.pieces));
      one.has_written = one.has_written && one.begun > one.ended + with_others(one);
    }
  }
  if (!sync.file && !sync.pieces.empty()) {  // its physical file was given up with the step
    synced(number, {ErrorCode::storage_failure, "the step was given up"});
    return;
  }
  writer.sync([this, here = is_here_, number](const Outcome& outcome) {
    if (*here) {
      synced(number, outcome);
    }
  });
}

void WriterFile::synced(int number, const Outcome& outcome) {
  const Sync sync = std::move(syncs_.extract(number).mapped());
  if (outcome.ok()) {
    tell(sync.pieces, Became::durable);
    return;
  }
  // The lead may have committed a step, and removed its file as `keep` wants, before this rank
  // hears of it. Once this rank owes no report of the step, what the lead says of it counts.
  const bool is_removed = sync.file && sync.file->is_removed();
  const auto is_left = [&](std::int64_t step) {
    const auto found = steps_.find(step);
    return is_removed && found != steps_.end() && found->second.has_reported &&
           !found->second.owes_report;
  };
  // The system may tell the failure this rank alone, once. It concerns all bytes of the physical
  // file that were not durable, also those of other ranks.
  for (const auto& [step, one] : steps_) {
    if (files_.target_of(step) == sync.target && !one.is_settled && !is_left(step)) {
      fail_step(step, outcome);
    }
  }
  for (const Given& piece : sync.pieces) {
    if (is_left(piece.step)) {
      steps_.at(piece.step).unsynced.push_back(piece);
    } else {
      const std::string variable =
          piece.variable < 0 ? "" : catalogue_.variable(piece.variable, piece.step).name;
      tell(piece, Became::failed, with(outcome, variable, piece.step));
    }
  }
}

bool WriterFile::is_syncing(std::int64_t step) const {
  return std::ranges::any_of(syncs_, [=](const auto& item) {
    return std::ranges::find(item.second.steps, step) != item.second.steps.end();
  });
}

// A settled step no longer needs the fsyncs under way.
void WriterFile::forget_syncs(std::int64_t step, bool is_durable) {
  for (auto& [number, sync] : syncs_) {
    std::erase(sync.steps, step);
    if (is_durable) {
      const auto rest = std::ranges::stable_partition(
          sync.pieces, [=](const Given& piece) { return piece.step != step; });
      tell({rest.begin(), rest.end()}, Became::durable);
      sync.pieces.erase(rest.begin(), rest.end());
    }
  }
}

void WriterFile::sync_with_others(std::int64_t number) {
  Step& step = steps_[number];
  std::ranges::move(std::exchange(step.kept, {}), std::back_inserter(step.unsynced));
  sync(number);
}

bool WriterFile::sync_all() {
  bool any = false;
  for (const auto& [number, step] : steps_) {
    if (!step.unsynced.empty()) {
      sync(number);
      any = true;
    }
  }
  return any;
}

// These functions carry out orders of the lead.

void WriterFile::place(const protocol::StepNote& note) {
  files_.note_place(note.variable, note.step, {note.number, note.outcome, note.events});
  if (note.outcome.ok() && !files_.is_plain()) {
    // Places are told to all, so that all describe the same contents when they finish the file.
    contents_.add(
        note.step, note.variable,
        files_.traits().offset(catalogue_.layout(), note.variable, note.step, note.number));
  }
  auto waiting = waiting_.extract({note.step, note.variable});
  if (!waiting.empty()) {
    for (auto& chunk : waiting.mapped()) {
      write_placed(std::move(chunk));
    }
  }
}

void WriterFile::expect(const protocol::Expectation& expectation) {
  Step& step = steps_[expectation.step];
  if (!setup_.writes_own_blocks) {
    step.expected = expectation.pieces;
  }
  step.report = expectation.report;
  step.owes_report = true;
  step.is_asked = step.is_asked || expectation.ends_stripes;
  step.owes_sync = !setup_.syncs_last && !keeps_steps();
  check_stripes(expectation.step, step);
}

void WriterFile::fill(const protocol::FillOrder& order) {
  Step& step = steps_[order.step];
  step.owes_report = true;
  step.owes_sync = !setup_.syncs_last && !keeps_steps();
  if (is_lost(order.step)) {  // maybe no piece came here that told of the loss
    fail_step(order.step, loss_.cause);
    return;
  }
  for (const auto& [variable, holes] : order.holes) {
    const Outcome place = files_.place(variable, order.step).value_or(Outcome{});
    if (!place.ok()) {
      fail_step(order.step, place);
      continue;
    }
    const auto piece = begin(order.step, {holes, 0, holes->elements()}, -1, 0);
    ++step.expected;
    ++step.come;
    piece->giver.elements_to_come = 0;
    piece->variable = catalogue_.variable(variable, order.step);
    piece->offset = files_.offset(variable, order.step);
    const auto value = catalogue_.fill(variable, order.step);
    // Fill values are not rounded, and what lies in a stripe is.
    const bool joins = value.empty() || piece->variable.kept_bits == 0;
    if (setup_.writes_own_blocks && files_.stripes() != nullptr && joins) {
      files_.stripes()->choose_fill(*piece, 0, array::elements(piece->variable.shape));
      piece->is_blank = value.empty();
    }
    const bool is_begun = files_.writer_of(order.step).fill(piece, value);
    step.has_written =
        step.has_written || (is_begun && !(piece->is_joined() && has_bug(Bug::stripe_not_synced)));
    if (piece->is_joined() && piece->elements_left > 0) {
      step.joined.push_back(piece);
    }
  }
}

void WriterFile::make_durable(std::int64_t number) {
  Step& step = steps_[number];
  step.owes_report = step.owes_sync = true;
  tell(step.kept, Became::written);  // others have written them
}

void WriterFile::settle(std::int64_t number, const Outcome& outcome) {
  if (!outcome.ok()) {
    contents_.remove_step(number);
    steps_[number].failure = outcome;  // the lead knows it: what fails with the step is no news
  }
  files_.submit();  // chunks may wait, of a step that was given up
  if (files_.stripes() != nullptr) {
    files_.stripes()->settle(number, number + 1, outcome);
  }
  end_waiting(number, number + 1, outcome);
  files_.drop_spilled(number, number + 1, outcome);
  if (keeps_steps()) {
    files_.writer_of(number).whole_steps()->forget(number);
  }
  Step& step = steps_[number];
  step.is_settled = true;
  step.owes_report = false;
  forget_syncs(number, outcome.ok());
  if (outcome.ok()) {
    tell(std::exchange(step.unsynced, {}), Became::durable);
  }
  const auto kept = std::exchange(step.kept, {});
  tell(kept, outcome.ok() ? Became::written : Became::failed, outcome);
  if (outcome.ok()) {
    tell(kept, Became::durable);
  }
  next_step_ = std::max(next_step_, number + 1);
  if (files_.target_of(number) >= 0) {
    files_.forget(number);
  }
  // Pieces under way of a step that was given up end later.
  if (step.ended >= step.begun) {
    steps_.erase(number);
  }
  wanted_.erase(wanted_.begin(), wanted_.lower_bound({number + 1, 0}));
  files_.forget_places_until(number);
}

// Ends the chunks that wait for a place in these steps, because they get none.
void WriterFile::end_waiting(std::int64_t from, std::int64_t to, const Outcome& outcome) {
  while (true) {
    const auto found = waiting_.lower_bound({from, 0});
    if (found == waiting_.end() || found->first.first >= to) {
      return;
    }
    for (auto& chunk : std::exchange(found->second, {})) {
      const auto piece = chunk.piece;
      const std::int64_t elements = chunk.count;
      refuse(*piece, outcome);
      writing::end(std::move(chunk));
      came(*piece, elements);
    }
    waiting_.erase(found);
  }
}

void WriterFile::fail(const Outcome& outcome, std::int64_t from_step) {
  if (is_lost(from_step)) {
    return;
  }
  loss_ = {in_file(outcome), from_step};
  end_waiting(from_step, no_end, loss_.cause);
  if (files_.stripes() != nullptr) {
    files_.stripes()->settle(from_step, no_end, loss_.cause);
  }
  files_.drop_spilled(from_step, no_end, loss_.cause);
}

writing::Act WriterFile::act_of(const protocol::ActionNote& action) {
  const bool creates = action.action == protocol::Action::create;
  auto& writer = creates ? files_.begin(action.step, action.named) : files_.writer(action.step);
  auto act =
      writing::act_of({action.action, action.step, action.settled, files_.names().steps_before()},
                      writer, contents_, catalogue_,
                      [create = setup_.create, path = writer.file().path(),
                       options = files_.options()] { return create(path, options); });
  const bool writes_step = action.action == protocol::Action::flush ||
                           (action.action == protocol::Action::finish && action.step >= 0);
  const std::int64_t next = std::max(action.step + 1, action.settled + 1);
  act.end = [this, writes_step, next, end = std::move(act.end)](const Outcome& worked) {
    Outcome outcome = end(worked);
    if (writes_step && outcome.ok()) {
      next_step_ = std::max(next_step_, next);
    }
    return outcome;
  };
  return act;
}

void WriterFile::act(const protocol::ActionNote& action) {
  const auto act = act_of(action);
  act.end(outcome_of(act.work)).throw_unless_ok();
}

bool WriterFile::advance() {
  bool moved = false;
  if (auto* const stripes = files_.stripes(); stripes != nullptr && setup_.writes_own_blocks) {
    moved = stripes->hear_of_others();
    write(stripes->take_withdrawn());
  }
  return report_done() || moved;
}

// The lead syncs the file that has the name, so this must be the one that was written here. And the
// lead does not hear of an fsync that has failed here.
void WriterFile::check_file(std::int64_t step) {
  const auto& file = files_.writer_of(step).file().opened();
  if (const int error = file ? file->sync_error() : 0; error != 0) {
    fail_step(step, {ErrorCode::storage_failure, file->sync_story(error)});
  }
}

bool WriterFile::report_done() {
  bool moved = false;
  for (auto& [number, step] : steps_) {
    if (!step.owes_report || !is_done(step)) {
      continue;
    }
    if (step.owes_sync && number < sync_until_) {
      if (step.has_written && !setup_.lead_syncs) {
        sync(number);
        moved = true;
      } else {
        check_file(number);  // another step may have written there
      }
      step.owes_sync = is_syncing(number);
    }
    if (!step.owes_sync) {
      step.owes_report = false;
      step.has_reported = moved = true;
      if (!step.report.empty()) {
        owner_.report(protocol::PutReport{number, step.puts.of(std::exchange(step.report, {}))});
      }
      owner_.report(protocol::Kind::step_done, {number, -1, 1, step.failure});
    }
  }
  return moved;
}

// Counts the pieces whose last elements other ranks fill or write. They are not this rank's
// business.
std::int64_t WriterFile::with_others(const Step& step) {
  return std::ranges::count_if(step.joined, [](const auto& piece) {
    return piece->elements_left > 0 && piece->elements_left == piece->elements_with_others;
  });
}

bool WriterFile::is_asked(std::int64_t step) const {
  const auto found = steps_.find(step);
  return found != steps_.end() && found->second.is_asked;
}

// Bytes of a step that is being written do not count, because their memory will be free.
std::size_t WriterFile::kept_bytes() const {
  return files_.kept_bytes([this](std::int64_t number) {
    const auto step = steps_.find(number);
    return step == steps_.end() || !step->second.has_reported || step->second.owes_report;
  });
}

std::int64_t WriterFile::oldest_writing(std::int64_t none) const {
  const auto oldest = std::ranges::find_if(steps_, [](const auto& item) {
    return item.second.come > item.second.ended + with_others(item.second);
  });
  return oldest == steps_.end() ? none : oldest->first;
}

bool WriterFile::is_idle() const {
  return oldest_writing(-1) < 0 &&
         std::ranges::all_of(syncs_, [](const auto& item) { return item.second.steps.empty(); });
}

}  // namespace iocomp::writer
