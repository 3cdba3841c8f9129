#include "client/kernel_carrier.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/agreement.h"
#include "client/carrier.h"
#include "client/kernel_placing.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/lustre_layout.h"
#include "mpi/agree.h"
#include "mpi/error.h"
#include "trace/counters.h"

namespace iocomp::client {
namespace {

// Where the last byte of a block ends, from the beginning of its variable.
std::int64_t end_in_variable(const Block& block) {
  return array::end_index(block.variable.shape, block.region) *
         static_cast<std::int64_t>(block.element_bytes());
}

}  // namespace

KernelCarrier::KernelCarrier(Setup setup, commit::Publication::Identity identity,
                             BlockWriter& blocks, Link& link, const contents::Catalogue& catalogue)
    : setup_{std::move(setup)},
      per_step_{identity.file_per_step},
      readable_while_open_{setup_.format->readable_while_open()},
      publication_{std::move(identity), *setup_.format},
      blocks_{blocks},
      link_{link},
      catalogue_{catalogue},
      files_{{setup_.format, setup_.options, setup_.disk, setup_.submit},
             publication_,
             catalogue,
             link.counters()},
      placing_{setup_.placing, setup_.members,
               [this](std::int64_t step, const auto& flags) { return place(step, flags); }},
      holes_{setup_.circle, setup_.members, catalogue, setup_.may_overlap} {
  rank_ = setup_.circle.rank();
}

KernelCarrier::~KernelCarrier() { *is_here_ = false; }

Outcome KernelCarrier::in_file(const Outcome& outcome, std::int64_t step) const {
  if (outcome.ok() || outcome.story.starts_with("file \"")) {
    return outcome;
  }
  const std::string where = step < 0 ? std::string{} : ", step " + std::to_string(step);
  return {outcome.code, "file \"" + setup_.name + '"' + where + ": " + outcome.story};
}

std::string KernelCarrier::what(const std::string& owed) const {
  return owed + " of file \"" + setup_.name + "\" (compute rank " +
         std::to_string(setup_.members[static_cast<std::size_t>(rank_)]) +
         " waits for its own writes or for the same call of the other ranks)";
}

void KernelCarrier::create_target(std::int64_t target) {
  const std::string path = publication_.names(target).temporary;
  formats::lay_out(path);
  files_.at(target).created(setup_.format->create(path, setup_.options, MPI_COMM_SELF));
}

void KernelCarrier::open() {
  const auto agreed = [this](const Outcome& mine, const char* owed) {
    const Outcome common = mpi::agree(setup_.circle.comm, mine, link_.policy(), owed);
    if (!common.ok()) {
      throw Error{common.code, common.story};
    }
  };
  agreed(outcome_of([this] {
           if (is_first()) {
             publication_.prepare(0);
           }
           if (has_target() && !per_step_) {
             create_target(-1);
           }
         }),
         "the opening of a file");
  // Everybody holds the one file open from before its first write, and before it is renamed.
  agreed(outcome_of([this] {
           if (!per_step_) {
             (void)files_.at(-1).open();
           }
         }),
         "the opening of a file");
}

void KernelCarrier::announce(const contents::Event& event, std::int64_t /*sequence*/) {
  for (const auto byte : contents::encode(event)) {
    definitions_ = mix(definitions_, std::to_integer<std::uint64_t>(byte));
  }
  last_definition_ = contents::text(event);
  if (event.what == contents::Event::What::set_shape) {
    // Its place, if it was told ahead, was for the old shape.
    reshaped_.emplace(event.step, event.variable);
    files_.forget_offset(event.variable, event.step);
  }
}

// Only this rank's own writes bound how far it may run ahead: to wait for other ranks here could
// hang a program in which these wait for this one.
void KernelCarrier::enter_step(std::int64_t step) {
  const auto may_enter = [&] {
    const auto oldest =
        std::ranges::find_if(steps_, [](const auto& item) { return item.second.writing > 0; });
    return oldest == steps_.end() || step - oldest->first <= setup_.steps_in_flight;
  };
  if (!may_enter()) {
    const trace::Timer timer{link_.counters(), trace::Counter::buffer_wait_seconds};
    link_.wait_until(may_enter, [&] { return what("earlier steps"); });
  }
}

void KernelCarrier::put(const Block& block) {
  link_.tickets().find(block.ticket)->pieces = 1;
  if (!lost_.ok()) {
    link_.fail(setup_.key, block.ticket, lost_);
    return;
  }
  array::add(steps_[block.step].variables[block.variable.id], block.cover);
  holes_.note(block);
  if (files_.knows_offset(block.variable.id, block.step)) {
    write(block);
  } else {
    keep(block);
  }
}

void KernelCarrier::write(const Block& block) {
  Step& step = steps_[block.step];
  ++step.writing;
  link_.tickets().find(block.ticket)->kept = true;
  const Outcome begun = outcome_of([&] {
    const std::int64_t offset = files_.offset(block.variable.id, block.step);
    step.end = std::max(step.end, offset + end_in_variable(block));
    const auto done = [this, here = is_here_, block](const Outcome& outcome) {
      if (*here) {
        block_written(block, outcome);
      }
    };
    auto& writer = files_.writer(publication_.target_of(block.step));
    const bool lends = blocks_.write(block, writer, offset, done);
    Ticket* ticket = link_.tickets().find(block.ticket);
    if (ticket != nullptr && !lends) {
      ticket->kept = false;
    }
  });
  if (!begun.ok()) {
    block_written(block, begun);
  }
}

void KernelCarrier::block_written(const Block& block, const Outcome& outcome) {
  Step& step = steps_[block.step];
  --step.writing;
  Ticket* ticket = link_.tickets().find(block.ticket);
  if (ticket != nullptr) {
    ticket->kept = false;
  }
  if (!outcome.ok()) {
    fail_block(block, outcome);
  } else if (ticket != nullptr && ticket->failure.ok()) {
    ticket->written = ticket->pieces;
    step.tickets.push_back(block.ticket);
  }
}

void KernelCarrier::fail_block(const Block& block, const Outcome& outcome) {
  const Outcome told = in_block(setup_.name, block, outcome);
  link_.fail(setup_.key, block.ticket, told);
  Step& step = steps_[block.step];
  if (step.failure.ok()) {
    step.failure = told;
  }
}

Agreement::Mine KernelCarrier::ended_step(std::int64_t number) const {
  const Step& step = steps_.at(number);
  Agreement::Mine mine;
  mine.call = {"end_step", setup_.key, setup_.name, number, step.definitions, step.last_definition};
  mine.outcome = step.failure;
  mine.flags.resize(static_cast<std::size_t>(step.known_variables));
  for (const auto& [variable, cover] : step.variables) {
    mine.flags[static_cast<std::size_t>(variable)] = 1;
  }
  return mine;
}

void KernelCarrier::end_step(std::int64_t number) {
  if (!lost_.ok()) {
    link_.failures().told(setup_.key, lost_.story);
    throw Error{lost_.code, lost_.story};
  }
  Step& step = steps_[number];
  step.ended = true;
  step.definitions = definitions_;
  step.last_definition = last_definition_;
  step.known_variables = catalogue_.variables();
  ended_ = number + 1;
  if (!setup_.format->offsets_by_layout()) {
    auto mine = ended_step(number);
    mine.outcome = {};
    placing_.begin(std::move(mine));
  }
  link_.pump();
}

bool KernelCarrier::advance() {
  bool moved = placing_.advance([this](const auto& round) { placed(round); });
  moved = write_kept() || moved;
  moved = sync_steps() || moved;
  moved = agree_on_steps() || moved;
  return tell_verdicts() || moved;
}

void KernelCarrier::urge(std::uint64_t number, State state) {
  for (auto& [when, step] : steps_) {
    const auto kept = std::ranges::find_if(
        step.kept, [&](const Kept& one) { return one.block.ticket == number; });
    if (kept == step.kept.end()) {
      continue;
    }
    if (state != State::handed_over && !step.ended) {
      throw Error{ErrorCode::invalid_argument,
                  "file \"" + setup_.name + "\", variable \"" + kept->block.variable.name +
                      "\": its place is known after end_step; call that before waiting for more "
                      "than handed over"};
    }
    if (kept->copy == nullptr && state == State::handed_over) {
      keep_copy(*kept);
    }
  }
  if (state == State::durable) {
    sync_for(number);
  }
}

}  // namespace iocomp::client
