// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/member_writer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/kept_blocks.h"
#include "client/local/output_files.h"
#include "client/local/short_runs.h"
#include "client/local/waiting_writes.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "trace/counters.h"
#include "writing/file_writer.h"
#include "writing/step_output.h"
#include "writing/together.h"

namespace iocomp::client {

MemberWriter::MemberWriter(Setup setup, commit::Publication names, FileCouncil& council, Link& link,
                           const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      council_{council},
      link_{link},
      catalogue_{catalogue},
      files_{setup_.files, std::move(names), catalogue, link.counters()},
      kept_{link},
      waiting_writes_{files_, setup_.files.disk,          catalogue,
                      link,   std::move(setup_.exchange), keeps_steps()} {}

const MemberWriter::Step* MemberWriter::find(std::int64_t number) const {
  const auto step = steps_.find(number);
  return step == steps_.end() ? nullptr : &step->second;
}

Outcome MemberWriter::in_file(const Outcome& outcome, std::int64_t step) const {
  if (outcome.ok() || outcome.story.starts_with("file \"")) {
    return outcome;
  }
  const std::string where =
      step < 0 ? std::string{} : ", step " + std::to_string(catalogue_.number(step));
  return {outcome.code, "file \"" + setup_.name + '"' + where + ": " + outcome.story};
}

std::int64_t MemberWriter::oldest_writing(std::int64_t none) const {
  const auto oldest =
      std::ranges::find_if(steps_, [](const auto& item) { return is_writing(item.second); });
  return oldest == steps_.end() ? none : oldest->first;
}

// Blocks.

void MemberWriter::put(const Block& block) {
  link_.tickets().find(block.ticket)->pieces = 1;
  if (is_lost(block.step)) {
    link_.fail(setup_.key, block.ticket, loss_.cause);
    return;
  }
  Step& step = steps_[block.step];
  step.variables.add(block.variable.id, block.cover);
  step.puts.add({.variable = block.variable.id,
                 .rank = council_.compute_rank(),
                 .part = {block.region, 0, array::elements(block.region)}});
  // What members write together, all of them must know of.
  const bool is_place_known = files_.place(block.variable.id, block.step).has_value();
  if ((!is_place_known || !files_.is_plain()) &&
      wanted_.emplace(block.step, block.variable.id).second) {
    council_.want_place(block.step, block.variable.id);
  }
  const bool is_exchanged =
      waiting_writes_.exchanges(block) && (!block.buffered || link_.has_copy_room(block.bytes()));
  if (can_write(block) && !is_exchanged) {
    write({block, nullptr});
  } else {
    kept_.keep(block);
    // Its place may have come while it waited for memory.
    has_news_ = has_news_ || can_write(block);
  }
}

void MemberWriter::put_nothing(const Block& block) {
  if (!is_lost(block.step)) {
    steps_[block.step].variables.add(block.variable.id, block.cover);
  }
}

bool MemberWriter::can_write(const Block& block) const {
  const Step* step = find(block.step);
  const bool is_in_time = !keeps_steps() || (step != nullptr && step->is_expected);
  return is_in_time && files_.place(block.variable.id, block.step).has_value();
}

void MemberWriter::write(const KeptBlocks::Kept& kept) {
  const Block& block = kept.block;
  Step& step = steps_[block.step];
  ++step.writing;
  const Outcome begun = outcome_of([&] {
    if (const auto placed = files_.place(block.variable.id, block.step); placed && !placed->ok()) {
      throw Error{placed->code, placed->story};
    }
    if (waits()) {
      step.has_written = true;
      waiting_writes_.write(block, kept.copy);
      block_written(owed(block), {});
      return;
    }
    link_.tickets().find(block.ticket)->kept = true;
    note_given(block, setup_.write_block(block, files_.writer_of(block.step),
                                         files_.offset(block.variable.id, block.step),
                                         !step.is_asked, when_written(block)));
  });
  if (!begun.ok()) {
    block_written(owed(block), begun);
  }
}

void MemberWriter::note_given(const Block& block, GivenBlock given) {
  Step& step = steps_[block.step];
  const bool is_joined = given.joined != nullptr;
  const bool is_forgotten = is_joined && has_bug(Bug::stripe_not_synced);
  step.has_written = step.has_written || (given.is_begun && !is_forgotten);
  if (is_joined) {
    step.joined.push_back(std::move(given.joined));
  } else if (council_.lead() != nullptr) {  // one rank tells what is much the same on all
    const std::int64_t elements = array::elements(block.region);
    const std::int64_t row = array::row_elements(block.variable.shape, block.region);
    files_.short_runs().note(block.variable, elements / std::max<std::int64_t>(row, 1), elements,
                             "staging.stripe, overlap, when_full or a lack of memory "
                             "keeps ranks from putting them together");
  }
  Ticket* ticket = link_.tickets().find(block.ticket);
  if (ticket != nullptr && given.is_lent && ticket->kept) {
    ticket->lent = {block.first_value(), block.bytes()};
  } else if (ticket != nullptr) {
    ticket->kept = false;
    ticket->joined = is_joined;
    link_.ledger().tell_hand_over(block.ticket);
  }
}

// Blocks whose last elements other ranks fill up or write are not this rank's business.
bool MemberWriter::is_writing(const Step& step) {
  const auto with_others = std::ranges::count_if(step.joined, [](const auto& piece) {
    return piece->elements_left > 0 && piece->elements_left == piece->elements_with_others;
  });
  return step.writing > static_cast<std::size_t>(with_others);
}

// Stripes that others have withdrawn, and those that this rank waits for and nobody fills up.
bool MemberWriter::write_stripes() {
  writing::Stripes* const stripes = files_.stripes();
  if (stripes == nullptr) {
    return false;
  }
  const bool moved = stripes->hear_of_others();
  auto own = stripes->take_withdrawn();
  if (!awaited_.empty()) {
    const auto is_awaited = [this](const writing::Stripe& stripe) {
      return std::ranges::any_of(stripe.parts, [this](const auto& part) {
        return awaited_.contains(part.piece->giver.ticket);
      });
    };
    std::ranges::move(stripes->withdraw_late(now_seconds(), is_awaited), std::back_inserter(own));
  }
  for (auto& stripe : own) {
    write_stripe(std::move(stripe));
  }
  return moved || !own.empty();
}

void MemberWriter::write_stripe(writing::Stripe stripe) {
  Step& step = steps_[stripe.step];
  step.has_written = step.has_written || !has_bug(Bug::stripe_not_synced);
  if (council_.lead() != nullptr && !stripe.is_whole) {
    const auto runs = stripe.runs();
    std::int64_t elements = 0;
    for (const auto& run : runs) {
      elements += run.elements;
    }
    files_.short_runs().note(stripe.variable, std::ssize(runs), elements,
                             "no rank of this node has put what lies between; servers, or mode = "
                             "\"sync\", put together the runs of all ranks");
  }
  files_.writer_of(stripe.step).write(std::move(stripe));
}

std::function<void(const Outcome&)> MemberWriter::when_written(const Block& block) {
  return [this, here = is_here_, owed = owed(block)](const Outcome& outcome) {
    if (*here) {
      block_written(owed, outcome);
    }
  };
}

void MemberWriter::block_written(const Owed& block, const Outcome& outcome) {
  Step& step = steps_[block.step];
  --step.writing;
  std::erase_if(step.joined, [](const auto& piece) { return piece->elements_left == 0; });
  awaited_.erase(block.ticket);
  Ticket* ticket = link_.tickets().find(block.ticket);
  if (ticket != nullptr) {
    ticket->kept = outcome.ok() && keeps_steps() && !block.is_buffered;
    ticket->lent = {};
    link_.ledger().tell_hand_over(block.ticket);
  }
  if (!outcome.ok()) {
    fail_block(block, outcome);
  } else if (ticket != nullptr && ticket->failure.ok()) {
    if (!keeps_steps()) {
      ticket->written = ticket->pieces;
    }
    (keeps_steps() ? step.given : step.written).push_back(block.ticket);
  }
}

void MemberWriter::fail_block(const Owed& block, const Outcome& outcome) {
  const Outcome told = in_block(setup_.name, catalogue_.variable(block.variable, block.step).name,
                                catalogue_.number(block.step), outcome);
  link_.fail(setup_.key, block.ticket, told);
  Step& step = steps_[block.step];
  if (step.failure.ok()) {
    step.failure = told;
  }
}

bool MemberWriter::write_kept() {
  if (!std::exchange(has_news_, false)) {
    return false;
  }
  const auto ready = kept_.take([this](const Block& block) {
    return is_lost(block.step) || (can_write(block) && !waiting_writes_.exchanges(block));
  });
  for (const auto& kept : ready) {
    ++steps_[kept.block.step].writing;  // nobody finds the step written before all of them are
  }
  for (const auto& kept : ready) {
    --steps_[kept.block.step].writing;
    if (is_lost(kept.block.step)) {
      link_.fail(setup_.key, kept.block.ticket, loss_.cause);
    } else if (link_.tickets().find(kept.block.ticket) != nullptr) {
      write(kept);
    }
  }
  return !ready.empty();
}

void MemberWriter::urge(std::uint64_t number, State state) {
  Ticket* ticket = link_.tickets().find(number);
  const Block* kept = kept_.find(number);
  if (ticket == nullptr || !ticket->failure.ok()) {
    return;
  }
  const bool can_copy = !ticket->kept || (kept != nullptr && link_.has_copy_room(kept->bytes()));
  if (kept != nullptr && waits() && can_write(*kept) &&
      (state != State::handed_over || !can_copy)) {
    for (const auto& alone :
         kept_.take([&](const Block& block) { return block.ticket == number; })) {
      write(alone);  // nobody else need take part: run by run
    }
    urge(number, state);
    return;
  }
  const Step* step = find(ticket->step);
  const bool is_ended = step != nullptr && step->is_ended;
  // Else its place is on its way: it was asked for when the block was put.
  const bool needs_end = waits() || keeps_steps() || !files_.is_plain();
  if (kept != nullptr && state != State::handed_over && !is_ended && needs_end) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + setup_.name + "\", variable \"" + ticket->variable +
                    (waits() ? "\": in synchronous mode this back-end writes in end_step; call it "
                               "before waiting for more than handed over"
                             : "\": its place is known after end_step; call that before waiting "
                               "for more than handed over")};
  }
  // What is too large for a copy goes when its place is known.
  if (kept != nullptr && ticket->kept && state == State::handed_over &&
      kept->bytes() <= link_.copy_limit_bytes()) {
    kept_.copy(number);
  }
  if (state == State::handed_over && ticket->kept && !ticket->lent.empty()) {
    setup_.disk->want_back(number, ticket->lent);
  }
  if (files_.stripes() != nullptr && state != State::handed_over &&
      ticket->written < ticket->pieces) {
    awaited_.insert(number);
  }
  if (state == State::durable && !keeps_steps()) {
    check_is_of_this_node(*ticket);
    sync_for(number);
  }
}

// What other nodes have written is made durable there, in calls that all make.
void MemberWriter::check_is_of_this_node(const Ticket& ticket) const {
  if (ticket.exchanged && !setup_.files.disk.are_writers_on_one_node) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + setup_.name + "\", variable \"" + ticket.variable +
                    "\": in synchronous mode ranks of other nodes write blocks of short runs; "
                    "call iocomp_wait_step for step " +
                    std::to_string(catalogue_.number(ticket.step)) +
                    " on all ranks of the file instead of waiting for durable"};
  }
}

void MemberWriter::sync_for(std::uint64_t number) {
  const auto is_written = [this, number] {
    const Ticket* ticket = link_.tickets().find(number);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  };
  link_.wait_until(is_written, [this] {
    return "a block of file \"" + setup_.name + "\" to be written by compute rank " +
           std::to_string(council_.compute_rank());
  });
  const Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr || !ticket->failure.ok() || ticket->settled()) {
    return;
  }
  const trace::Timer timer{link_.counters(), trace::Counter::sync_seconds};
  writing::FileWriter& writer = files_.writer_of(ticket->step);
  if (ticket->joined) {  // another rank of this node may have written it
    (void)writer.file().open();
  }
  writer.sync([this, here = is_here_, number, when = ticket->step](const Outcome& outcome) {
    Ticket* open = *here ? link_.tickets().find(number) : nullptr;
    if (open != nullptr && outcome.ok()) {
      open->durable = open->pieces;
      link_.tickets().settle(number);
    } else if (open != nullptr) {
      link_.fail(setup_.key, number, in_file(outcome, when));
      fail_late(when, outcome);
    }
  });
}

// A step with a failed block is not committed, also if this rank has reported that it is done.
void MemberWriter::fail_late(std::int64_t number, const Outcome& outcome) {
  const auto step = steps_.find(number);
  if (step == steps_.end() || !step->second.failure.ok()) {
    return;
  }
  step->second.failure = in_file(outcome, number);
  if (step->second.is_ended && !step->second.owes_report) {
    council_.failed(number, in_file(outcome));
  }
}

// Reports.

protocol::StepCounts MemberWriter::end(std::int64_t number, bool exchanges, const PutSums& sums) {
  Step& step = steps_[number];
  step.is_ended = true;
  step.is_exchanged = exchanges;
  if (!waits()) {  // unasked
    step.owes_report = step.owes_sync = true;
  }
  protocol::StepCounts counts{number, catalogue_.events(), 1, {}, step.variables, sums};
  if (writing::Stripes* const stripes = files_.stripes()) {
    (void)stripes->hear_of_others();
    counts.unclaimed = stripes->unclaimed(number) + kept_.elements(number);
  }
  return counts;
}

bool MemberWriter::exchanges(std::int64_t step) const {
  return kept_.has_any(step,
                       [this](const Block& block) { return waiting_writes_.exchanges(block); });
}

bool MemberWriter::advance() {
  bool moved = write_kept();
  moved = files_.take_back() || moved;
  moved = write_stripes() || moved;
  return report_done() || moved;
}

bool MemberWriter::report_done() {
  bool moved = false;
  for (auto& [number, step] : steps_) {
    const bool will_exchange = step.is_expected && step.is_exchanged;
    if (!step.owes_report || is_writing(step) || will_exchange || kept_.has_any(number)) {
      continue;
    }
    if (step.owes_sync && !step.is_syncing && number < sync_until_) {
      sync(number, step);
      moved = true;
    }
    if (!step.owes_sync) {
      step.owes_report = false;
      council_.step_done(number, step.failure);
      moved = true;
    }
  }
  return moved;
}

// All who ask while one fsync is under way share the next.
void MemberWriter::sync(std::int64_t number, Step& step) {
  const bool leaves_it = has_bug(Bug::only_lead_syncs) && council_.lead() == nullptr;
  if (!std::exchange(step.has_written, false) || leaves_it) {
    synced(number, {}, {});
    return;
  }
  step.is_syncing = true;
  const double begun = now_seconds();
  files_.writer_of(number).sync(
      [this, here = is_here_, number,
       tickets = std::exchange(step.written, {})](const Outcome& outcome) {
        if (*here) {
          synced(number, tickets, outcome);
        }
      });
  if (waits()) {
    link_.counters().add(trace::Counter::sync_seconds, now_seconds() - begun);
  }
}

void MemberWriter::synced(std::int64_t number, const std::vector<std::uint64_t>& tickets,
                          const Outcome& outcome) {
  const auto found = steps_.find(number);
  if (found == steps_.end()) {
    return;  // it was dropped meanwhile
  }
  Step& step = found->second;
  step.is_syncing = step.owes_sync = false;
  const Outcome told = in_file(outcome, number);
  if (!told.ok() && step.failure.ok()) {
    step.failure = told;
  }
  make_tickets_durable(tickets, told);
}

void MemberWriter::make_tickets_durable(const std::vector<std::uint64_t>& tickets,
                                        const Outcome& outcome) {
  for (const std::uint64_t number : tickets) {
    Ticket* ticket = link_.tickets().find(number);
    if (ticket != nullptr && outcome.ok()) {
      ticket->durable = ticket->pieces;
      link_.tickets().settle(number);
    } else if (ticket != nullptr) {
      link_.fail(setup_.key, number, outcome);
    }
  }
}

// Orders.

void MemberWriter::placed(const protocol::StepNote& note) {
  files_.note_place(note.variable, note.step, {note.number, note.outcome, note.events});
  has_news_ = true;
  if (note.outcome.ok() && !files_.is_plain()) {
    // Told to all, so that all can describe the same contents when they finish the file.
    contents_.add(note.step, note.variable,
                  setup_.files.format->traits().offsets_by_layout
                      ? catalogue_.layout().offset(note.variable, note.step)
                      : note.number);
  }
  if (!waits()) {
    return;
  }
  if (!note.outcome.ok() && !is_created(note.step)) {  // then there is nothing to exchange into
    steps_[note.step].is_exchanged = false;
    for (const auto& kept :
         kept_.take([&](const Block& block) { return block.step == note.step; })) {
      fail_block(owed(kept.block), note.outcome);
    }
  }
  go_on(note.step);
}

void MemberWriter::expect(const protocol::Expectation& expectation) {
  Step& step = steps_[expectation.step];
  if (!expectation.report.empty()) {
    council_.report(protocol::PutReport{expectation.step, step.puts.of(expectation.report)});
  }
  step.owes_report = true;
  if (waits()) {
    step.is_expected = true;
    go_on(expectation.step);
    return;
  }
  // All members have ended the step: what is not full now never will be.
  step.owes_sync = step.is_asked = true;
  if (writing::Stripes* const stripes = files_.stripes()) {
    for (auto& stripe : stripes->withdraw_step(expectation.step)) {
      write_stripe(std::move(stripe));
    }
  }
}

bool MemberWriter::is_created(std::int64_t number) {
  return files_.is_plain() || files_.writer_of(number).file().has_target();
}

// All members come here after the same orders.
void MemberWriter::go_on(std::int64_t number) {
  Step& step = steps_[number];
  if (!step.is_expected) {
    return;
  }
  has_news_ = true;
  (void)write_kept();
  if (step.is_exchanged && is_created(number)) {
    step.is_exchanged = false;
    exchange(number);
  }
}

void MemberWriter::exchange(std::int64_t number) {
  // What got no place in the file got none on any member.
  const auto place_of = [&](const Block& block) {
    return files_.place(block.variable.id, number).value_or(Outcome{});
  };
  for (const auto& kept : kept_.take(
           [&](const Block& block) { return block.step == number && !place_of(block).ok(); })) {
    fail_block(owed(kept.block), place_of(kept.block));
  }
  const auto exchanged = kept_.take([number](const Block& block) { return block.step == number; });
  std::vector<const Block*> blocks;
  for (const auto& kept : exchanged) {
    blocks.push_back(&kept.block);
  }
  Step& step = steps_[number];
  step.has_written = true;
  const Outcome outcome = waiting_writes_.exchange(number, blocks);
  if (!outcome.ok() && step.failure.ok()) {
    step.failure = in_file(outcome, number);
  }
  for (const auto& kept : exchanged) {
    step.given.push_back(kept.block.ticket);
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket)) {
      ticket->exchanged = true;
    }
  }
}

void MemberWriter::fill(const protocol::FillOrder& order) {
  Step& step = steps_[order.step];
  step.owes_report = true;
  step.owes_sync = !waits();
  if (is_lost(order.step)) {
    return;
  }
  writing::FileWriter& writer = files_.writer_of(order.step);
  for (const auto& [variable, holes] : order.holes) {
    if (const Outcome place = files_.place(variable, order.step).value_or(Outcome{}); !place.ok()) {
      step.failure = step.failure.ok() ? in_file(place, order.step) : step.failure;
      continue;
    }
    Block block;
    block.variable = catalogue_.variable(variable, order.step);
    block.step = order.step;
    block.region = std::make_shared<const array::RunList>(holes);
    ++step.writing;
    step.has_written = true;
    const auto done = [this, here = is_here_, number = order.step](const Outcome& outcome) {
      if (*here) {
        Step& filled = steps_[number];
        --filled.writing;
        filled.failure = filled.failure.ok() ? in_file(outcome, number) : filled.failure;
      }
    };
    writer.fill(piece_of(block, files_.offset(variable, order.step), done),
                catalogue_.fill(variable, order.step));
  }
  if (waits()) {
    WaitingWrites::finish(writer);
  }
}

void MemberWriter::make_durable(std::int64_t number) {
  Step& step = steps_[number];
  step.is_whole = true;
  step.owes_report = step.owes_sync = true;
  for (const std::uint64_t given : step.given) {  // other ranks have written them
    if (Ticket* ticket = link_.tickets().find(given)) {
      ticket->written = ticket->pieces;
    }
  }
}

void MemberWriter::settle(std::int64_t number, const Outcome& outcome) {
  const auto found = steps_.find(number);
  if (writing::Stripes* const stripes = files_.stripes()) {
    stripes->settle(number, number + 1, outcome);
  }
  if (found != steps_.end() && outcome.ok()) {
    make_tickets_durable(std::exchange(found->second.written, {}), {});
  }
  if (found != steps_.end()) {
    for (const std::uint64_t given : std::exchange(found->second.given, {})) {
      Ticket* ticket = link_.tickets().find(given);
      if (ticket == nullptr) {
        continue;
      }
      ticket->kept = false;
      if (outcome.ok()) {
        ticket->written = ticket->durable = ticket->pieces;
        link_.tickets().settle(given);
      } else if (ticket->failure.ok() && ticket->written < ticket->pieces) {
        ticket->failure = outcome;
      }
    }
  }
  if (!outcome.ok()) {
    contents_.remove_step(number);
    files_.drop_spilled(number, number + 1, outcome);
    for (const auto& kept :
         kept_.take([number](const Block& block) { return block.step == number; })) {
      link_.fail(setup_.key, kept.block.ticket, outcome);
    }
  }
  // Its bytes are gone with the file, or nobody makes them durable any more: so it is also with
  // what others have written of this rank's blocks, or write now.
  if (!outcome.ok() &&
      (waits() || files_.target_of(number) == number || files_.stripes() != nullptr)) {
    link_.ledger().settled(setup_.key,
                           [&](std::int64_t step) { return step == number ? &outcome : nullptr; });
  }
  if (keeps_steps()) {
    files_.writer_of(number).whole_steps()->forget(number);
  }
  if (files_.target_of(number) >= 0) {
    files_.forget(number);
  }
  // What is under way of a step that was given up comes to its end later.
  if (found != steps_.end() && found->second.writing == 0) {
    steps_.erase(found);
  } else if (found != steps_.end()) {
    found->second.owes_report = false;
  }
  std::erase_if(awaited_, [this](auto ticket) { return link_.tickets().find(ticket) == nullptr; });
  wanted_.erase(wanted_.begin(), wanted_.lower_bound({number + 1, 0}));
  files_.forget_places_until(number);
}

void MemberWriter::fail(const Outcome& outcome, std::int64_t from_step) {
  if (!loss_.cause.ok() && from_step >= loss_.from_step) {
    return;
  }
  loss_.cause = loss_.cause.ok() ? in_file(outcome) : loss_.cause;
  loss_.from_step = from_step;
  has_news_ = true;
  (void)write_kept();  // fails them
  files_.drop_spilled(from_step, std::numeric_limits<std::int64_t>::max(), loss_.cause);
  if (writing::Stripes* const stripes = files_.stripes()) {
    stripes->settle(from_step, std::numeric_limits<std::int64_t>::max(), loss_.cause);
  }
  link_.ledger().lost(setup_.key, from_step, loss_.cause);
}

void MemberWriter::act(const protocol::ActionNote& action) {
  writing::FileWriter& writer = files_.writer(action.step);
  writing::carry_out({action.action, action.step, action.settled, files_.names().steps_before()},
                     writer, contents_, catalogue_, [&] {
                       return setup_.files.format->create(files_.names().data_path(action.step),
                                                          files_.options(),
                                                          formats::Communicator{setup_.openers});
                     });
  if (action.action == protocol::Action::create && action.step >= 0) {
    go_on(action.step);
  }
}

}  // namespace iocomp::client
