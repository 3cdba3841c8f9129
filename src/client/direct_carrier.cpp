#include "client/direct_carrier.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/direct_output.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "mpi/agree.h"

namespace iocomp::client {

DirectCarrier::DirectCarrier(std::uint64_t key, std::string name, DirectOutput::Setup setup,
                             commit::Publication::Identity identity, Link& link, Meeting& meeting,
                             const contents::Catalogue& catalogue)
    : key_{key},
      name_{std::move(name)},
      comm_{setup.comm},
      per_step_{identity.file_per_step},
      readable_while_open_{setup.format->readable_while_open()},
      publication_{std::move(identity), *setup.format},
      link_{link},
      meeting_{meeting},
      catalogue_{catalogue},
      coverage_{setup.comm, setup.compute_rank, link.policy(), catalogue, setup.may_overlap},
      output_{std::move(setup), publication_, catalogue, link} {}

DirectCarrier::~DirectCarrier() = default;

bool DirectCarrier::is_first() const {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  return rank == 0;
}

void DirectCarrier::note_loss(const Error& error) {
  const bool timed_out = error.code() == ErrorCode::timed_out;
  if (!lost_.ok() || (!timed_out && error.code() != ErrorCode::inconsistent_calls)) {
    return;
  }
  if (!timed_out && meeting_.ended().ok()) {
    keep_ended_steps();
  }
  if (lost_.ok()) {
    lost_ = in_file({error.code(), error.what()});
    link_.failures().add(key_, lost_);
    if (timed_out) {  // those who come late would meet this rank in another call
      meeting_.end(lost_);
    }
  }
}

Outcome DirectCarrier::in_file(const Outcome& outcome, std::int64_t step) const {
  if (outcome.story.starts_with("file \"")) {
    return outcome;
  }
  const std::string where = step < 0 ? std::string{} : ", step " + std::to_string(step);
  return {outcome.code, "file \"" + name_ + '"' + where + ": " + outcome.story};
}

std::int64_t DirectCarrier::meet(const char* call, std::int64_t step, std::int64_t extra) {
  return meeting_.meet({call, key_, name_, step, definitions_, last_definition_}, extra);
}

void DirectCarrier::announce(const contents::Event& event, std::int64_t /*sequence*/) {
  const auto bytes = contents::encode(event);
  for (const auto byte : bytes) {
    definitions_ = mix(definitions_, std::to_integer<std::uint64_t>(byte));
  }
  last_definition_ = contents::text(event);
}

void DirectCarrier::open() {
  together([this] {
    output_.agree(outcome_of([this] {
                    if (is_first()) {
                      publication_.prepare(0);
                    }
                  }),
                  "the opening of a file");
    if (!per_step_) {
      output_.create(-1);
    }
  });
}

void DirectCarrier::write(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  const Outcome outcome = outcome_of([&] { output_.write(block); });
  if (outcome.ok()) {
    ticket->written = output_.writes_whole_steps() ? 0 : ticket->pieces;
    return;
  }
  const Outcome told = in_block(name_, block, outcome);
  link_.fail(key_, block.ticket, told);
  if (put_failure_.ok()) {
    put_failure_ = told;
  }
}

void DirectCarrier::put(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  ticket->pieces = 1;
  if (!lost_.ok()) {
    link_.fail(key_, block.ticket, lost_);
    return;
  }
  coverage_.note(block);
  const bool waits =
      output_.exchanges(block) && (!block.buffered || link_.has_copy_room(block.bytes()));
  if (output_.writes_at_once(block) && !waits) {
    write(block);
    return;
  }
  keep(block);
}

void DirectCarrier::keep_copy(Kept& kept) {
  Block& block = kept.block;
  kept.copy = link_.copy_buffer(block.bytes());
  block.pack(0, array::elements(block.region), kept.copy.get());
  block.lies_packed(kept.copy.get());
  link_.tickets().find(block.ticket)->kept = false;
}

void DirectCarrier::keep(const Block& block) {
  kept_.push_back({block, nullptr});
  link_.tickets().find(block.ticket)->kept = true;
  if (block.buffered) {
    keep_copy(kept_.back());
  }
}

// Nobody else need take part: run by run.
void DirectCarrier::write_now(std::uint64_t ticket) {
  std::erase_if(kept_, [&](const Kept& kept) {
    if (kept.block.ticket != ticket) {
      return false;
    }
    link_.tickets().find(ticket)->kept = false;
    write(kept.block);
    return true;
  });
}

// @return the blocks that were exchanged: written when all ranks have agreed that nobody failed.
std::vector<const Block*> DirectCarrier::write_kept(std::int64_t step, const Put& put) {
  std::vector<const Block*> exchanged;
  for (auto& kept : kept_) {
    if (output_.exchanges(kept.block)) {
      exchanged.push_back(&kept.block);
    } else {
      write(kept.block);
    }
  }
  if (put.exchanges) {
    const Outcome outcome = output_.exchange(step, exchanged);
    if (put_failure_.ok() && !outcome.ok()) {
      put_failure_ = in_file(outcome, step);
    }
  }
  return exchanged;
}

void DirectCarrier::write_step(std::int64_t step) {
  const bool exchanges = std::ranges::any_of(
      kept_, [this](const Kept& kept) { return output_.exchanges(kept.block); });
  Put put;
  put.exchanges = meet("end_step", step, exchanges ? 1 : 0) != 0;
  steps::Holes holes;
  const Outcome begun = outcome_of([&] {
    put.variables = coverage_.sum();
    holes = coverage_.examine(step);
    if (per_step_) {
      output_.create(step);
    }
    output_.place(step, put.variables);
  });
  if (!begun.ok()) {
    const Outcome told = in_file(begun, step);
    throw Error{told.code, told.story};
  }
  const auto exchanged = write_kept(step, put);
  if (put_failure_.ok()) {
    put_failure_ = in_file(outcome_of([&] {
                             for (const auto& [variable, runs] : holes) {
                               output_.fill(step, variable, *runs);
                             }
                           }),
                           step);
  }
  output_.agree(std::exchange(put_failure_, {}), "the end of a step");
  for (const Block* block : exchanged) {
    Ticket* ticket = link_.tickets().find(block->ticket);
    ticket->written = ticket->pieces;
  }
  if (output_.writes_whole_steps()) {
    output_.write_step(step);
    for (const auto& kept : kept_) {
      Ticket* ticket = link_.tickets().find(kept.block.ticket);
      ticket->written = ticket->pieces;
    }
  }
}

void DirectCarrier::settle_kept(const Outcome& outcome) {
  for (auto& kept : kept_) {
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket); ticket != nullptr) {
      ticket->kept = false;
      if (!outcome.ok() && ticket->failure.ok() && ticket->written < ticket->pieces) {
        ticket->failure = outcome;
      }
    }
  }
  kept_.clear();
}

void DirectCarrier::end_step(std::int64_t step) {
  const Outcome outcome = outcome_of([&] { together([&] { write_step(step); }); });
  settle_kept(outcome);
  coverage_.begin_step();
  put_failure_ = {};
  if (lost_.ok()) {
    ended_ = step + 1;
  }
  if (outcome.ok()) {
    commit_until(per_step_ ? step : step - 1);
    return;
  }
  const Outcome told = lost_.ok() ? outcome : lost_;
  output_.forget_step(step);
  commit_until(step - 1);
  fail_step(step, told);
  next_commit_ = step + 1;
  link_.failures().told(key_, told.story);
  throw Error{told.code, told.story};
}

void DirectCarrier::urge(std::uint64_t number, State state) {
  Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr || !ticket->failure.ok()) {
    return;
  }
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& k) { return k.block.ticket == number; });
  if (kept != kept_.end()) {
    const bool can_copy = !ticket->kept || link_.has_copy_room(kept->block.bytes());
    if (output_.writes_at_once(kept->block) && (state != State::handed_over || !can_copy)) {
      write_now(number);
      urge(number, state);
      return;
    }
    if (state != State::handed_over) {
      throw Error{ErrorCode::invalid_argument,
                  "file \"" + name_ + "\", variable \"" + ticket->variable +
                      "\": in synchronous mode this back-end writes in end_step; call it before "
                      "waiting for more than "
                      "handed over"};
    }
    if (ticket->kept) {
      keep_copy(*kept);
    }
    return;
  }
  if (state == State::durable && ticket->durable < ticket->pieces) {
    const Outcome outcome = outcome_of([&] { output_.sync(publication_.target_of(ticket->step)); });
    if (outcome.ok()) {
      ticket->durable = ticket->pieces;
      link_.tickets().settle(number);
    } else {
      link_.fail(key_, number, in_file(outcome, ticket->step));
    }
  }
}

}  // namespace iocomp::client
