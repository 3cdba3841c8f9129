// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/member_blocks.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/byte_size.h"
#include "base/clock.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/council/file_council.h"
#include "client/link.h"
#include "client/local/block_writer.h"
#include "client/local/kept_blocks.h"
#include "client/local/waiting_writes.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "disk/engine.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"
#include "writer/writer_file.h"
#include "writing/file_writer.h"
#include "writing/stripes.h"

namespace iocomp::client {

void ShortRuns::note(const contents::Variable& variable, std::int64_t runs, std::int64_t elements,
                     const char* why) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  if (runs < many || elements * element / runs > longest || !told_.insert(variable.id).second) {
    return;
  }
  link_.journal().warn("file \"" + file_ + "\", variable \"" + variable.name +
                       "\": " + std::to_string(runs) + " runs of " +
                       format_bytes(elements * element / runs) +
                       " are written one by one, because " + why);
}

using writer::WriterFile;

MemberBlocks::MemberBlocks(Setup setup, commit::Publication names, FileCouncil& council, Link& link,
                           const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      council_{council},
      link_{link},
      catalogue_{catalogue},
      short_runs_{names.name(), link},
      file_{writer_setup(), std::move(names), catalogue, link.counters(), *this},
      kept_{link},
      waiting_writes_{file_.files(), setup_.writer.files.disk,   catalogue,
                      link,          std::move(setup_.exchange), file_.keeps_steps()},
      actions_{"iocomp-write"} {
  actions_.go_beside(setup_.given_up != nullptr);
}

WriterFile::Setup MemberBlocks::writer_setup() {
  auto setup = setup_.writer;
  setup.writes_own_blocks = setup.files.begins_files = true;
  setup.syncs_last = waits();
  if (council_.lead() != nullptr) {  // one rank tells what is much the same on all
    setup.writes_parts = [this](const writing::Stripe& stripe) { advise(stripe); };
  } else if (has_bug(Bug::only_lead_syncs)) {
    setup.files.submit = [submit = setup.files.submit](disk::Plan plan, auto done) {
      plan.sync ? done({}) : submit(std::move(plan), std::move(done));
    };
  }
  return setup;
}

void MemberBlocks::put(const Block& block) {
  link_.tickets().find(block.ticket)->pieces = 1;
  if (file_.is_lost(block.step)) {
    link_.ledger().fail(setup_.key, block.ticket, file_.lost());
    return;
  }
  const array::Part part{block.region, 0, array::elements(block.region)};
  steps_[block.step].variables.add(block.variable.id, block.cover);
  file_.note_put(block.step,
                 {.variable = block.variable.id, .rank = council_.compute_rank(), .part = part});
  const auto piece = file_.begin(block.step, part, -1, block.ticket);
  piece->variable = block.variable;
  // If members write together, all of them must know the places.
  const bool is_place_known = file_.files().place(block.variable.id, block.step).has_value();
  if (!is_place_known || !file_.files().is_plain()) {
    file_.want_place(block.step, block.variable.id);
  }
  const bool is_exchanged = waiting_writes_.exchanges(block) &&
                            (!block.buffered || link_.copies().has_room(block.bytes()));
  if (can_write(block) && !is_exchanged) {
    write({block, piece});
    return;
  }
  const Outcome kept = outcome_of([&] { kept_.keep({block, piece}); });
  if (!kept.ok()) {
    file_.give_up(piece, kept);
  }
  kept.throw_unless_ok();
  // The place may have come while the block waited for memory.
  has_news_ = has_news_ || can_write(block);
}

void MemberBlocks::put_nothing(const Block& block) {
  if (!file_.is_lost(block.step)) {
    steps_[block.step].variables.add(block.variable.id, block.cover);
  }
}

bool MemberBlocks::can_write(const Block& block) const {
  const auto step = steps_.find(block.step);
  const bool is_in_time =
      !file_.keeps_steps() ||
      (step != steps_.end() && step->second.is_expected && !acts() && file_.admits(block.step));
  return is_in_time && file_.files().place(block.variable.id, block.step).has_value();
}

void MemberBlocks::write(const KeptBlocks::Kept& kept) {
  const Block& block = kept.block;
  const Outcome begun = outcome_of([&] {
    if (const auto placed = file_.files().place(block.variable.id, block.step); placed) {
      placed->throw_unless_ok();
    }
    kept.piece->offset = file_.files().offset(block.variable.id, block.step);
    if (waits()) {
      file_.given(kept.piece, true);
      waiting_writes_.write(kept);
      Ticket* const ticket = link_.tickets().find(block.ticket);
      if (ticket != nullptr && file_.keeps_steps() && kept.piece->failure.ok()) {
        ticket->kept = !block.buffered;
      }
      return;
    }
    link_.tickets().find(block.ticket)->kept = true;
    note_given(kept, setup_.write_block(block, kept.piece, file_.files().writer_of(block.step),
                                        !file_.is_asked(block.step)));
  });
  if (!begun.ok()) {
    file_.give_up(kept.piece, begun);
  }
}

void MemberBlocks::note_given(const KeptBlocks::Kept& kept, const GivenBlock& given) {
  const Block& block = kept.block;
  const bool is_joined = kept.piece->is_joined();
  file_.given(kept.piece, given.is_begun && !(is_joined && has_bug(Bug::stripe_not_synced)));
  if (file_.keeps_steps()) {
    Ticket* const ticket = link_.tickets().find(block.ticket);
    if (ticket != nullptr && !given.is_lent) {
      ticket->kept = false;
      link_.ledger().tell_hand_over(block.ticket);
    }
    return;
  }
  if (!is_joined && council_.lead() != nullptr) {
    const std::int64_t elements = array::elements(block.region);
    const std::int64_t row = array::row_elements(block.variable.shape, block.region);
    short_runs_.note(block.variable, elements / std::max<std::int64_t>(row, 1), elements,
                     link_.loss() ? "the servers that put them together were lost"
                                  : "overlap, when_full or a lack of memory "
                                    "keeps ranks from putting them together");
  }
  Ticket* ticket = link_.tickets().find(block.ticket);
  if (ticket != nullptr && given.is_lent && ticket->kept) {
    ticket->lent = setup_.disk->lend({block.first_value(), block.bytes()});
  } else if (ticket != nullptr) {
    ticket->kept = false;
    ticket->joined = is_joined;
    link_.ledger().tell_hand_over(block.ticket);
  }
}

void MemberBlocks::advise(const writing::Stripe& stripe) {
  const auto runs = stripe.runs();
  std::int64_t elements = 0;
  for (const auto& run : runs) {
    elements += run.elements;
  }
  short_runs_.note(stripe.variable, std::ssize(runs), elements,
                   "no rank of this node has put what lies between; servers, or mode = "
                   "\"sync\", put together the runs of all ranks");
}

void MemberBlocks::tell(const writer::Given& piece, WriterFile::Became became,
                        const Outcome& outcome) {
  if (became != WriterFile::Became::durable) {
    awaited_.erase(piece.ticket);
  }
  tell_ticket(link_, setup_.key, piece, became, outcome);
}

bool MemberBlocks::write_kept() {
  if (!std::exchange(has_news_, false)) {
    return false;
  }
  const auto ready = kept_.take([this](const Block& block) {
    return file_.is_lost(block.step) || (can_write(block) && !waiting_writes_.exchanges(block));
  });
  for (const auto& kept : ready) {
    file_.is_lost(kept.block.step) ? file_.give_up(kept.piece, file_.lost()) : write(kept);
  }
  return !ready.empty();
}

void MemberBlocks::urge(std::uint64_t number, State state) {
  Ticket* ticket = link_.tickets().find(number);
  const Block* kept = kept_.find(number);
  if (ticket == nullptr || !ticket->failure.ok()) {
    return;
  }
  const bool can_copy =
      !ticket->kept || (kept != nullptr && link_.copies().has_room(kept->bytes()));
  if (kept != nullptr && waits() && can_write(*kept) &&
      (state != State::handed_over || !can_copy)) {
    for (const auto& alone :
         kept_.take([&](const Block& block) { return block.ticket == number; })) {
      write(alone);  // nobody else needs to take part: written run by run
    }
    urge(number, state);
    return;
  }
  const auto step = steps_.find(ticket->step);
  const bool is_ended = step != steps_.end() && step->second.is_ended;
  // Otherwise the place is on its way, because it was asked for when the block was put.
  const bool needs_end = waits() || file_.keeps_steps() || !file_.files().is_plain();
  if (kept != nullptr && state != State::handed_over && !is_ended && needs_end) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + file_.files().names().name() + "\", variable \"" + ticket->variable +
                    (waits() ? "\": in synchronous mode this back-end writes in end_step; call it "
                               "before waiting for more than handed over"
                             : "\": its place is known after end_step; call that before waiting "
                               "for more than handed over")};
  }
  if (!waits() && file_.keeps_steps()) {
    urge_step(*ticket, kept, state, is_ended);
  }
  // A block that is too large for a copy goes when its place is known.
  if (kept != nullptr && ticket->kept && state == State::handed_over &&
      kept->bytes() <= link_.copies().limit_bytes()) {
    kept_.copy(number);
  }
  if (state == State::handed_over && ticket->kept && !ticket->lent.memory.empty()) {
    setup_.disk->want_back(number, ticket->lent);
  }
  if (file_.files().stripes() != nullptr && state != State::handed_over &&
      ticket->written < ticket->pieces) {
    awaited_.insert(number);
  }
  if (state == State::durable && !file_.keeps_steps()) {
    check_is_of_this_node(*ticket);
    sync_for(number);
  }
}

// A block of a step that threads write is written with its step.
void MemberBlocks::urge_step(const Ticket& ticket, const Block* kept, State state, bool is_ended) {
  const bool is_too_large = kept != nullptr && kept->bytes() > link_.copies().limit_bytes();
  if (!is_ended && is_too_large) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + file_.files().names().name() + "\", variable \"" + ticket.variable +
                    "\": the block is larger than client.buffer_memory, so it is needed until its "
                    "step is written; call end_step before waiting"};
  }
  if (is_ended && (state != State::handed_over || kept == nullptr || is_too_large)) {
    council_.reports().note(protocol::Kind::flush, {ticket.step, -1, 0, {}});
  }
}

// Blocks that other nodes have written are made durable there, in calls that all members make.
void MemberBlocks::check_is_of_this_node(const Ticket& ticket) const {
  if (ticket.exchanged && !setup_.writer.files.disk.are_writers_on_one_node) {
    throw Error{ErrorCode::invalid_argument,
                "file \"" + file_.files().names().name() + "\", variable \"" + ticket.variable +
                    "\": in synchronous mode ranks of other nodes write blocks of short runs; "
                    "call iocomp_wait_step for step " +
                    std::to_string(catalogue_.number(ticket.step)) +
                    " on all ranks of the file instead of waiting for durable"};
  }
}

void MemberBlocks::sync_for(std::uint64_t number) {
  const auto is_written = [this, number] {
    const Ticket* ticket = link_.tickets().find(number);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  };
  link_.wait_until(is_written, [this] {
    return "a block of file \"" + file_.files().names().name() +
           "\" to be written by compute rank " + std::to_string(council_.compute_rank());
  });
  const Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr || !ticket->failure.ok() || ticket->settled()) {
    return;
  }
  if (ticket->joined) {  // another rank of this node may have written it
    (void)file_.files().writer_of(ticket->step).file().open();
  }
  ticket->exchanged ? file_.sync_with_others(ticket->step) : file_.sync(ticket->step);
}

protocol::StepCounts MemberBlocks::end(std::int64_t number, bool exchanges, const PutSums& sums) {
  Step& step = steps_[number];
  step.is_ended = true;
  step.is_exchanged = exchanges;
  file_.ended(number);
  protocol::StepCounts counts{number, catalogue_.events(), 1, {}, step.variables, sums};
  if (writing::Stripes* const stripes = file_.files().stripes()) {
    (void)stripes->hear_of_others();
    counts.unclaimed = stripes->unclaimed(number) + kept_.elements(number);
  }
  return counts;
}

bool MemberBlocks::exchanges(std::int64_t step) const {
  return kept_.has_any(step,
                       [this](const Block& block) { return waiting_writes_.exchanges(block); });
}

bool MemberBlocks::has_whole(std::int64_t step) const {
  const auto found = steps_.find(step);
  return found != steps_.end() && found->second.is_whole;
}

bool MemberBlocks::advance() {
  bool moved = actions_.advance();
  moved = write_kept() || moved;
  moved = file_.files().take_back() || moved;
  if (!awaited_.empty() && file_.files().stripes() != nullptr) {
    moved = file_.write_late_stripes(now_seconds()) || moved;
  }
  return file_.advance() || moved;
}

// These functions follow orders of the lead.

void MemberBlocks::placed(const protocol::StepNote& note) {
  has_news_ = true;
  if (!waits()) {
    return;
  }
  if (!note.outcome.ok() && !is_created(note.step)) {  // then there is no file to exchange into
    steps_[note.step].is_exchanged = false;
    give_up_kept(note.step, note.outcome);
  }
  go_on(note.step);
}

void MemberBlocks::give_up_kept(std::int64_t step, const Outcome& outcome) {
  for (const auto& kept : kept_.take([&](const Block& block) { return block.step == step; })) {
    file_.give_up(kept.piece, outcome);
  }
}

void MemberBlocks::all_ended(const protocol::Expectation& expectation) {
  if (!waits() && !file_.keeps_steps()) {
    file_.expect(expectation);
    return;
  }
  Step& step = steps_[expectation.step];
  step.is_expected = true;
  step.expectation = expectation;
  go_on(expectation.step);
}

bool MemberBlocks::is_created(std::int64_t step) {
  return file_.files().is_plain() || file_.files().writer_of(step).file().has_target();
}

// All members come here after the same orders. Exchanged blocks are a part of the step.
void MemberBlocks::go_on(std::int64_t number) {
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
  if (step.expectation && !step.is_exchanged) {
    file_.expect(*std::exchange(step.expectation, {}));
  }
}

void MemberBlocks::exchange(std::int64_t number) {
  // A block that got no place in the file got none on any member.
  const auto place_of = [&](const Block& block) {
    return file_.files().place(block.variable.id, number).value_or(Outcome{});
  };
  for (const auto& kept : kept_.take(
           [&](const Block& block) { return block.step == number && !place_of(block).ok(); })) {
    file_.give_up(kept.piece, place_of(kept.block));
  }
  const auto exchanged = kept_.take([number](const Block& block) { return block.step == number; });
  std::vector<const Block*> blocks;
  for (const auto& kept : exchanged) {
    blocks.push_back(&kept.block);
  }
  file_.note_writing(number);
  file_.fail_step(number, waiting_writes_.exchange(number, blocks));
  for (const auto& kept : exchanged) {
    file_.passed_on(kept.piece);
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket)) {
      ticket->exchanged = true;
    }
  }
}

void MemberBlocks::filled(std::int64_t step) {
  if (waits()) {
    WaitingWrites::finish(file_.files().writer_of(step));
  }
}

void MemberBlocks::settled(std::int64_t number, const Outcome& outcome) {
  file_.settle(number, outcome);
  if (!outcome.ok()) {
    give_up_kept(number, outcome);
  }
  // The bytes are gone with the file, or nobody makes them durable any more. This also holds for
  // blocks of this rank that others have written, or write now.
  const auto& files = file_.files();
  if (!outcome.ok() && (waits() || file_.lead_syncs() || files.target_of(number) == number ||
                        files.stripes() != nullptr)) {
    link_.ledger().settled(setup_.key,
                           [&](std::int64_t step) { return step == number ? &outcome : nullptr; });
  }
  steps_.erase(number);
  has_news_ = true;  // a file that keeps steps takes the next one
  std::erase_if(awaited_, [this](auto ticket) { return link_.tickets().find(ticket) == nullptr; });
}

void MemberBlocks::failed(const Outcome& outcome, std::int64_t from_step) {
  if (file_.is_lost(from_step)) {
    return;
  }
  file_.fail(outcome, from_step);
  has_news_ = true;
  (void)write_kept();  // fails them
  link_.ledger().lost(setup_.key, from_step, file_.lost());
}

void MemberBlocks::act(const protocol::ActionNote& action) {
  writing::Act act;
  const Outcome ready = outcome_of([&] { act = file_.act_of(action); });
  if (!ready.ok()) {
    acted(action, ready);
    return;
  }
  actions_.run(act.work, [this, action, end = act.end](const Outcome& outcome) {
    acted(action, end(outcome));
  });
}

// Blocks may have waited for this.
void MemberBlocks::acted(protocol::ActionNote action, const Outcome& outcome) {
  has_news_ = true;
  action.outcome = outcome;
  if (outcome.ok() && action.action == protocol::Action::create && action.step >= 0) {
    action.outcome = outcome_of([&] { go_on(action.step); });
  }
  council_.reports().action_done(action);
}

void MemberBlocks::end_acts() {
  if (acts()) {
    *setup_.given_up = true;
    actions_.finish();
  }
}

}  // namespace iocomp::client
