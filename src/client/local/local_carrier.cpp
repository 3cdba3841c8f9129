// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/local_carrier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/council/meeting.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/member_blocks.h"
#include "client/tickets.h"
#include "commit/lead.h"
#include "commit/publication.h"
#include "commit/publisher.h"
#include "commit/reports.h"
#include "contents/catalogue.h"
#include "disk/output_file.h"
#include "formats/open_together.h"
#include "mpi/agree.h"
#include "mpi/wait.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "trace/counters.h"

namespace iocomp::client {

using protocol::Kind;

namespace {

// The steps that synchronous members may end while an earlier one is committed. The disk takes the
// commit behind their writes, so it ends with the next step's writes or a little later.
constexpr std::int64_t longest_commit = 2;

}  // namespace

LocalCarrier::LocalCarrier(Setup setup, FileCouncil::Setup council, MemberBlocks::Setup blocks,
                           const commit::Publication& names, Link& link,
                           const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      link_{link},
      catalogue_{catalogue},
      council_{std::move(council), link.counters(), link.progress()},
      blocks_{std::move(blocks), names, council_, link, catalogue} {}

std::string LocalCarrier::what(const std::string& owed) const {
  return owed + " of file \"" + setup_.name + "\" (compute rank " +
         std::to_string(council_.compute_rank()) +
         " waits for its own writes or for the same call of the other ranks)" +
         link_.progress().owed_before(setup_.key);
}

// All members of a synchronous file take the same orders in the same call. They take none that come
// after those that end it.
void LocalCarrier::wait_until(const std::function<bool()>& done, const std::string& owed) {
  if (!is_synchronous() && opening_.told) {
    council_.go_beside(false);
    link_.wait_until(done, [&] { return what(owed); });
    council_.go_beside(true);
    return;
  }
  mpi::Nap nap;
  mpi::Deadline deadline{link_.policy()};
  while (!done()) {
    if (move(done)) {
      nap.reset();
      deadline.moved();
      continue;
    }
    if (link_.policy().meanwhile) {
      link_.policy().meanwhile();
    }
    nap.pause();
    deadline.check([&] { return what(owed); });
  }
}

void LocalCarrier::tell(const Outcome& outcome) { link_.failures().tell(setup_.key, outcome); }

contents::Beginning LocalCarrier::open() {
  if (auto* const lead = council_.lead()) {
    lead->start();
  }
  wait_until([this] { return opening_.told.has_value(); }, "the opening");
  // Each member opens the file of all steps before its first write, and before it is renamed.
  Outcome mine = opening_.told->outcome.ok() ? opening_.folder : opening_.told->outcome;
  if (mine.ok() && !setup_.file_per_step && writer().files().is_plain()) {
    mine = outcome_of([this] { (void)writer().files().writer(-1).file().open(); });
  }
  const Outcome common = mpi::agree(setup_.comm, mine, link_.policy(), "the opening of a file");
  if (!common.ok()) {
    closed_ = common;
    if (auto* const lead = council_.lead()) {
      lead->abandon();
    }
    throw Error{common.code, common.story};
  }
  council_.go_beside(!is_synchronous());
  return opening_.told->beginning;
}

void LocalCarrier::announce(const contents::Event& event, std::int64_t sequence) {
  const auto encoded = contents::encode(event);
  for (const auto byte : encoded) {
    definitions_ = mix(definitions_, std::to_integer<std::uint64_t>(byte));
  }
  last_definition_ = contents::text(event);
  if (event.what == contents::Event::What::set_shape) {
    writer().files().reshaped(event.variable, event.step, sequence);
  }
  if (!is_alone_ && !is_over()) {
    council_.reports().event({sequence, council_.compute_rank(), encoded});
  }
}

// Only this rank's own writes limit how far it may run ahead. To wait for other ranks here could
// hang a program in which those wait for this one.
void LocalCarrier::enter_step(std::int64_t step) {
  // Steps that are written together wait for the other ranks anyway.
  const auto may_enter = [&] {
    const bool is_over = writer().is_lost(step) || this->is_over();
    const std::int64_t oldest = writer().keeps_steps() ? settled_ : writer().oldest_writing(step);
    return is_over || step - oldest <= setup_.steps_in_flight;
  };
  if (!may_enter()) {
    const trace::Timer timer{link_.counters(), trace::Counter::buffer_wait_seconds};
    link_.wait_until(may_enter, [&] { return what("earlier steps"); });
  }
}

bool LocalCarrier::move(const std::function<bool()>& enough) {
  if (is_alone_ || is_over()) {
    return false;
  }
  // Orders after an action must not touch the file before that has ended.
  const bool moved =
      council_.advance([this](Kind kind, std::span<const std::byte> body) { obey(kind, body); },
                       [&] { return blocks_.acts() || enough(); });
  return blocks_.advance() || moved;
}

void LocalCarrier::obey(Kind kind, std::span<const std::byte> body) {
  switch (kind) {
    case Kind::known_file:
      begin_at(protocol::decode<protocol::Open>(body).beginning);
      break;
    case Kind::opened:
      opening_.told = protocol::decode<protocol::Opened>(body);
      break;
    case Kind::placed:
      writer().place(protocol::decode<protocol::StepNote>(body));
      blocks_.placed(protocol::decode<protocol::StepNote>(body));
      break;
    case Kind::expect:
      blocks_.all_ended(protocol::decode<protocol::Expectation>(body));
      break;
    case Kind::fill:
      writer().fill(protocol::decode<protocol::FillOrder>(body));
      blocks_.filled(protocol::decode<protocol::FillOrder>(body).step);
      break;
    case Kind::sync:
      blocks_.is_whole(protocol::decode<protocol::StepNote>(body).step);
      writer().make_durable(protocol::decode<protocol::StepNote>(body).step);
      break;
    case Kind::action:
      blocks_.act(protocol::decode<protocol::ActionNote>(body));
      break;
    case Kind::step_settled: {
      const auto note = protocol::decode<protocol::StepNote>(body);
      settle(note.step, note.outcome);
      break;
    }
    case Kind::file_failed: {
      const auto note = protocol::decode<protocol::StepNote>(body);
      blocks_.failed(note.outcome, note.step);
      link_.progress().lost(setup_.key, note.step, note.outcome);
      break;
    }
    case Kind::file_closed:
      closed_ = protocol::decode<Outcome>(body);
      if (!closed_->ok()) {
        writer().files().remove_uncommitted(-1);
      }
      break;
    default:
      break;  // definitions: a member has its own
  }
}

// Each member tells the outcome of this when the file is opened.
void LocalCarrier::begin_at(const contents::Beginning& beginning) {
  opening_.folder = outcome_of([&] {
    const auto what = commit::different_folder(beginning.folder, setup_.folder);
    if (!what.empty()) {
      throw Error{ErrorCode::inconsistent_calls,
                  "file \"" + setup_.name + "\": compute rank " +
                      std::to_string(council_.compute_rank()) +
                      " means another folder than the first rank of the file: " + what};
    }
    if (const auto* const lead = council_.lead()) {
      writer().files().hold(lead->folder());
    }
    writer().files().begin_at(beginning);
  });
  // All members create some files together, also one without the folder.
  if (!opening_.folder.ok()) {
    writer().files().hold_none(opening_.folder);
  }
}

void LocalCarrier::settle(std::int64_t step, const Outcome& outcome) {
  const Outcome told = writer().in_file(outcome, step);
  if (!told.ok()) {
    failed_.emplace(step, told);
    link_.failures().add(setup_.key, step, told);
  }
  blocks_.settled(step, told);
  settled_ = step + 1;
  link_.progress().settled(setup_.key, step, told);
}

void LocalCarrier::end_step(std::int64_t step, const StepEnd& end) {
  if (is_synchronous()) {
    end_together(step, end);
    return;
  }
  if (writer().is_lost(step)) {
    tell(writer().lost());
  }
  council_.ended(Kind::home_step, counts(step, false, end));
  ended_.steps = step + 1;
  link_.pump();
  if (writer().keeps_steps()) {
    look_for_orders();
  }
}

// A thread begins with a step after some messages between the ranks. Ranks that end it at about the
// same time exchange them here, rather than one of them in each of their next calls. This takes a
// small part of the time between steps, whatever the others do.
void LocalCarrier::look_for_orders() {
  constexpr double longest_seconds = 0.01;
  constexpr double most_of_time = 0.02;
  const double now = now_seconds();
  const double until = now + std::min(longest_seconds, most_of_time * (now - ended_.at));
  ended_.at = now;
  mpi::Nap nap;
  while (!blocks_.acts() && !is_over() && now_seconds() < until) {
    if (move([] { return false; })) {
      nap.reset();
    } else {
      nap.pause();
    }
  }
}

// The lead may have told the place of the variable. A block with a place can be given to its writer
// at once.
void LocalCarrier::put(const Block& block) {
  if (!writer().files().place(block.variable.id, block.step)) {
    (void)advance();
  }
  blocks_.put(block);
}

// Waits until the step is settled, or lost.
void LocalCarrier::await_step(std::int64_t step) {
  if (settled_ > step || writer().is_lost(step)) {
    return;
  }
  if (!is_synchronous()) {
    council_.reports().note(Kind::flush, {step, -1, 0, {}});
  } else {  // after a failure of later steps nobody meets, and the lead still commits this one
    (void)outcome_of([&] { (void)meet("wait_step", step); });
  }
  writer().sync_until(is_synchronous() ? step + 1 : INT64_MAX);
  try {
    wait_until([&] { return settled_ > step || writer().is_lost(step) || is_over(); },
               "the commit of step " + std::to_string(catalogue_.number(step)));
  } catch (const Error& error) {
    if (is_synchronous()) {
      lose({error.code(), error.what()});
    }
    throw;
  }
}

void LocalCarrier::hurry(std::int64_t step) {
  if (is_synchronous()) {
    await_step(step);
  } else if (!is_alone_ && !is_over()) {
    council_.reports().note(Kind::flush, {step, -1, 0, {}});
  }
}

bool LocalCarrier::tell_of(const protocol::Other& other, bool /*waits*/) {
  if (!is_alone_ && !is_over()) {
    council_.pass(protocol::encode(setup_.key, Kind::home_other, other));
  }
  return true;
}

void LocalCarrier::wait_step(std::int64_t step) {
  await_step(step);
  const auto failure = failed_.find(step);
  if (failure != failed_.end()) {
    tell(failure->second);
  }
  if (settled_ <= step) {
    tell(writer().lost());
  }
}

// All members make these calls.

// @throws Error; then the file is lost.
LocalCarrier::Agreed LocalCarrier::meet(const char* call, std::int64_t step, bool exchanges) {
  if (!writer().lost().ok()) {
    throw Error{writer().lost().code, writer().lost().story};
  }
  const trace::Span span{link_.counters().timeline(),
                         trace::What::wait,
                         {.file = setup_.name, .step = step, .text = "all members to call it"}};
  try {
    const auto [exchanging, committing] =
        setup_.meeting->meet({call, setup_.key, setup_.name, step, definitions_, last_definition_},
                             {exchanges ? 1 : 0, commits_each_step_ ? 1 : 0});
    return {.exchanges = exchanging != 0, .commits_step = committing != 0};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::inconsistent_calls && setup_.meeting->ended().ok()) {
      leave_together(error);
    } else {
      lose({error.code(), error.what()});
    }
    throw;
  }
}

// The members make different calls, and all of them are here for the last time. The steps that they
// have ended are kept.
void LocalCarrier::leave_together(const Error& difference) {
  if (auto* const lead = council_.lead()) {
    lead->fail({difference.code(), difference.what()}, ended_.steps);
  }
  blocks_.failed({difference.code(), difference.what()}, ended_.steps);
  (void)outcome_of([this] {
    say_closed(ended_.steps, false, {});
    leave();
  });
}

// Nobody can know any more what belongs together, or some member does not come.
void LocalCarrier::lose(const Outcome& why) {
  is_alone_ = true;
  blocks_.end_acts();
  blocks_.failed(why, settled_);
  link_.progress().lost(setup_.key, settled_, why);
  if (why.code == ErrorCode::timed_out && setup_.meeting != nullptr) {
    setup_.meeting->end(writer().lost());  // a late rank would meet this one in another call
  }
  if (auto* const lead = council_.lead()) {
    council_.finish_jobs();  // otherwise a commit would end after it was given up
    lead->abandon();
    writer().files().remove_uncommitted(-1);
  } else {  // a lead that is only late may still commit what this rank has ended
    writer().files().remove_uncommitted(ended_.steps);
  }
}

void LocalCarrier::end_together(std::int64_t step, const StepEnd& end) {
  Agreed agreed;
  const Outcome met = outcome_of([&] { agreed = meet("end_step", step, blocks_.exchanges(step)); });
  if (!met.ok()) {
    tell(writer().lost());
  }
  const bool commits = setup_.file_per_step || writer().keeps_steps() || agreed.commits_step;
  writer().sync_until(commits ? step + 1 : step);
  ended_.steps = step + 1;
  auto* const lead = commits ? nullptr : council_.lead();
  if (lead != nullptr) {
    lead->hold_commits(true);
  }
  council_.ended(Kind::home_step, counts(step, agreed.exchanges, end));
  const std::int64_t oldest = step - longest_commit;
  const auto is_done = [&] {
    const bool is_whole = blocks_.has_whole(step) && settled_ >= oldest && !commits;
    return settled_ > step || is_whole || writer().is_lost(step) || is_over();
  };
  const Outcome waited = outcome_of(
      [&] { wait_until(is_done, "the end of step " + std::to_string(catalogue_.number(step))); });
  if (!waited.ok()) {
    lose(waited);
  } else if (lead != nullptr) {
    council_.go_beside(true);  // the step before is committed while all write the next one
    lead->hold_commits(false);
    council_.go_beside(false);
  }
  if (const auto failure = failed_.find(step); failure != failed_.end()) {
    tell(failure->second);
  }
  if (writer().is_lost(step)) {
    tell(writer().lost());
  }
}

protocol::StepCounts LocalCarrier::counts(std::int64_t step, bool exchanges, const StepEnd& end) {
  auto counts = blocks_.end(step, exchanges, end.sums);
  counts.predecessors = end.predecessors;
  counts.unfinished = end.is_unfinished ? 1 : 0;
  return counts;
}

// Tells the others that this member closes the file.
void LocalCarrier::say_closed(std::int64_t open_step, bool exchanges, const StepEnd& end) {
  writer().sync_until(INT64_MAX);
  auto counts = this->counts(open_step, exchanges, end);
  if (writer().is_lost(open_step)) {
    counts.variables.clear();
    counts.sums.clear();
  }
  council_.ended(Kind::home_close, counts);
  leaving_ = Leaving::waits_for_orders;
}

// Carries out the orders that are left, and waits until all members have left.
void LocalCarrier::leave() {
  wait_until([this] { return is_over(); }, "the closing");
  if (std::exchange(leaving_, Leaving::waits_for_messages) == Leaving::waits_for_orders) {
    council_.leave();
  }
  wait_until([this] { return council_.have_all_left(); }, "the last messages");
}

std::int64_t LocalCarrier::give_up(std::int64_t open_step, const Outcome& why) {
  if (is_over()) {
    return open_step;
  }
  const bool is_named = setup_.file_per_step || writer().files().traits().readable_while_open;
  const std::int64_t from = is_named ? settled_ : 0;
  if (is_synchronous() || is_alone_) {
    lose(why);
  } else {
    council_.reports().note(Kind::home_failed, {settled_, -1, 0, why});
    blocks_.failed(why, settled_);
    if (leaving_ == Leaving::not_yet) {
      say_closed(open_step, false, {});
    }
  }
  return from;
}

void LocalCarrier::abandon(const Outcome& why) {
  if (!is_over() && !is_alone_) {
    lose(why);
  }
}

void LocalCarrier::begin_close(std::int64_t open_step, const StepEnd& end) {
  if (is_alone_ || is_over()) {
    return;
  }
  const Outcome begun = outcome_of([&] {
    const bool meets = is_synchronous() && writer().lost().ok();
    const bool exchanges =
        meets && meet("close", open_step, blocks_.exchanges(open_step)).exchanges;
    say_closed(open_step, exchanges, end);
    if (is_synchronous()) {
      leave();
    }
  });
  if (!begun.ok() && !is_over() && !is_alone_) {
    lose(begun);
  }
}

bool LocalCarrier::is_closed() {
  if (!is_alone_ && leaving_ != Leaving::not_yet) {
    if (!is_over()) {
      return false;
    }
    if (std::exchange(leaving_, Leaving::waits_for_messages) == Leaving::waits_for_orders) {
      council_.leave();
    }
    if (!council_.have_all_left()) {
      return false;
    }
  }
  return writer().oldest_writing(-1) < 0;
}

Outcome LocalCarrier::close() {
  if (!is_alone_ && leaving_ != Leaving::not_yet) {
    const Outcome left = outcome_of([&] { leave(); });
    if (!left.ok() && !is_over() && !is_alone_) {
      lose(left);
    }
  }
  // The program gets its memory back, whatever has happened.
  const Outcome written = outcome_of([&] {
    link_.wait_until([&] { return writer().oldest_writing(-1) < 0; },
                     [&] { return what("the last blocks"); });
  });
  if (!is_over()) {
    return writer().lost();
  }
  return closed_->ok() ? written : *closed_;
}

void LocalCarrier::go_on_after(const commit::Left& left, std::int64_t ended,
                               std::vector<std::vector<std::byte>> events,
                               std::shared_ptr<disk::OutputFile> file) {
  auto* const lead = council_.lead();
  if (lead != nullptr) {
    lead->begin_again();
  }
  for (std::size_t number = 0; number < events.size(); ++number) {
    council_.reports().event(
        {static_cast<std::int64_t>(number), council_.compute_rank(), std::move(events[number])});
  }
  if (lead != nullptr) {
    lead->go_on_after(left);
  }
  if (!setup_.file_per_step) {
    // New descriptors would not hear of an fsync that failed before.
    writer().files().go_on_in(
        left.path, left.is_published ? formats::Opening::finds_earlier : formats::Opening::finds,
        std::move(file));
  }
  opening_.told = protocol::Opened{Outcome{}};
  ended_.steps = ended;
  settled_ = left.settled;
  failed_ = left.failed;
  link_.progress().heard(setup_.key, {.settled = settled_});
  for (auto& [step, failure] : failed_) {
    failure = writer().in_file(failure, step);
    link_.failures().add(setup_.key, step, failure);
    link_.progress().settled(setup_.key, step, failure);
  }
}

}  // namespace iocomp::client
