#include "client/direct_carrier.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/memory_box.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/direct_output.h"
#include "client/link.h"
#include "client/tickets.h"
#include "mpi/agree.h"
#include "storage/catalogue.h"
#include "storage/publication.h"

namespace iocomp::client {

DirectCarrier::DirectCarrier(std::uint64_t key, std::string name, DirectOutput::Setup setup,
                             storage::Publication::Identity identity, Link& link,
                             const storage::Catalogue& catalogue)
    : key_{key},
      name_{std::move(name)},
      comm_{setup.comm},
      per_step_{identity.file_per_step},
      readable_while_open_{setup.format->readable_while_open()},
      publication_{std::move(identity), *setup.format},
      link_{link},
      catalogue_{catalogue},
      output_{std::move(setup), publication_, catalogue, link} {}

DirectCarrier::~DirectCarrier() = default;

void DirectCarrier::open() {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  output_.agree(outcome_of([&] {
                  if (rank == 0) {
                    publication_.prepare(0);
                  }
                }),
                "the opening of a file");
  if (!per_step_) {
    output_.create(-1);
  }
}

void DirectCarrier::write(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  const Outcome outcome = outcome_of([&] { output_.write(block); });
  if (outcome.ok()) {
    ticket->written = ticket->pieces;
    return;
  }
  const Outcome told{outcome.code, "file \"" + name_ + "\", variable \"" + block.variable.name +
                                       "\", step " + std::to_string(block.step) + ": " +
                                       outcome.story};
  link_.fail(key_, block.ticket, told);
  if (put_failure_.ok()) {
    put_failure_ = told;
  }
}

void DirectCarrier::put(const Block& block) {
  Ticket* ticket = link_.tickets().find(block.ticket);
  ticket->pieces = 1;
  put_.insert(block.variable.id);
  if (output_.writes_at_once()) {
    write(block);
    return;
  }
  kept_.push_back({block, nullptr});
  ticket->kept = true;
  if (block.buffered) {
    keep_copy(kept_.back());
  }
}

void DirectCarrier::keep_copy(Kept& kept) {
  Block& block = kept.block;
  kept.copy = link_.copy_buffer(block.bytes());
  array::pack(block.memory, block.element_bytes(), block.values, 0, array::elements(block.box),
              kept.copy.get());
  block.values = kept.copy.get();
  block.memory = array::make_memory_box(block.box, nullptr, nullptr);
  link_.tickets().find(block.ticket)->kept = false;
}

std::vector<int> DirectCarrier::variables_put() {
  std::vector<std::int64_t> put(static_cast<std::size_t>(catalogue_.variables()), 0);
  for (const int variable : put_) {
    put[static_cast<std::size_t>(variable)] = 1;
  }
  mpi::maximum(comm_, put, link_.policy(), "the variables of a step");
  std::vector<int> variables;
  for (std::size_t i = 0; i < put.size(); ++i) {
    if (put[i] != 0) {
      variables.push_back(static_cast<int>(i));
    }
  }
  put_.clear();
  return variables;
}

std::int64_t DirectCarrier::meet(Call call, std::int64_t step, std::int64_t extra) {
  const auto code = static_cast<std::int64_t>(call);
  const std::int64_t events = catalogue_.events();
  std::array<std::int64_t, 7> same{code, -code, step, -step, events, -events, extra};
  mpi::maximum(comm_, same, link_.policy(), "the other ranks of a file");
  if (same[0] != -same[1] || same[2] != -same[3] || same[4] != -same[5]) {
    constexpr std::array<const char*, 4> names{"?", "end_step", "wait_step", "close"};
    throw Error{
        ErrorCode::inconsistent_calls,
        "file \"" + name_ +
            "\": the ranks do not make the same calls in the same order: this rank called " +
            names.at(static_cast<std::size_t>(code)) + " in step " + std::to_string(step) +
            " after " + std::to_string(events) +
            " definitions; all ranks together: " + names.at(static_cast<std::size_t>(-same[1])) +
            " to " + names.at(static_cast<std::size_t>(same[0])) + ", steps " +
            std::to_string(-same[3]) + " to " + std::to_string(same[2]) + ", " +
            std::to_string(-same[5]) + " to " + std::to_string(same[4]) + " definitions"};
  }
  return same[6];
}

void DirectCarrier::write_step(std::int64_t step) {
  (void)meet(Call::end_step, step, 0);
  const auto variables = variables_put();
  if (per_step_) {
    output_.create(step);
  }
  output_.place(step, variables);
  for (auto& kept : kept_) {
    write(kept.block);
  }
}

void DirectCarrier::end_step(std::int64_t step) {
  ended_ = step + 1;
  Outcome outcome = outcome_of([&] { write_step(step); });
  for (auto& kept : kept_) {
    if (Ticket* ticket = link_.tickets().find(kept.block.ticket); ticket != nullptr) {
      ticket->kept = false;
      if (!outcome.ok() && ticket->failure.ok() && ticket->written < ticket->pieces) {
        ticket->failure = outcome;
      }
    }
  }
  kept_.clear();
  if (outcome.ok()) {
    outcome =
        mpi::agree(comm_, std::exchange(put_failure_, {}), link_.policy(), "the end of a step");
  }
  if (!outcome.ok()) {
    commit_until(step - 1);
    fail_step(step, outcome);
    next_commit_ = step + 1;
    link_.failures().told(key_, outcome.story);
    throw Error{outcome.code, outcome.story};
  }
  commit_until(per_step_ ? step : step - 1);
}

void DirectCarrier::fail_step(std::int64_t step, const Outcome& outcome) {
  failed_.emplace(step, outcome);
  link_.failures().add(key_, outcome);
  output_.drop_step(step);
  const auto job = publication_.drop_step(step);
  if (per_step_) {
    output_.forget(step);
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    if (rank == 0) {
      job();
    }
  }
}

void DirectCarrier::commit_until(std::int64_t step) {
  for (; next_commit_ <= step; ++next_commit_) {
    const std::int64_t committing = next_commit_;
    const Outcome outcome = outcome_of([&] { commit(committing); });
    if (!outcome.ok()) {
      fail_step(committing, {outcome.code, "file \"" + name_ + "\", step " +
                                               std::to_string(committing) + ": " + outcome.story});
    }
  }
}

void DirectCarrier::commit(std::int64_t step) {
  const std::int64_t target = publication_.target_of(step);
  output_.agree(outcome_of([&] { output_.sync(target); }), "the fsync of a step");
  mark_durable(step);
  if (per_step_) {
    output_.finish(target, output_.contents().describe(catalogue_, step, step));
  } else if (!readable_while_open_) {
    output_.flush(target);
  }
  output_.seal(target, step, publication_.commit_step(step, output_.contents(), catalogue_));
  if (per_step_) {
    output_.forget(target);
  }
}

void DirectCarrier::mark_durable(std::int64_t last_step) {
  std::vector<std::uint64_t> settled;
  link_.tickets().for_each([&](std::uint64_t number, Ticket& ticket) {
    if (ticket.file == key_ && ticket.step <= last_step && ticket.written == ticket.pieces) {
      ticket.durable = ticket.pieces;
      settled.push_back(number);
    }
  });
  std::for_each(settled.begin(), settled.end(),
                [this](auto number) { link_.tickets().settle(number); });
}

void DirectCarrier::wait_step(std::int64_t step) {
  if (next_commit_ <= step) {
    (void)meet(Call::wait_step, step, 0);
    commit_until(step);
  }
  const auto failure = failed_.find(step);
  if (failure != failed_.end()) {
    link_.failures().told(key_, failure->second.story);
    throw Error{failure->second.code, failure->second.story};
  }
}

void DirectCarrier::urge(std::uint64_t number, State state) {
  Ticket* ticket = link_.tickets().find(number);
  if (ticket == nullptr || !ticket->failure.ok()) {
    return;
  }
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& k) { return k.block.ticket == number; });
  if (kept != kept_.end()) {
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
      link_.fail(key_, number, outcome);
    }
  }
}

Outcome DirectCarrier::close(std::int64_t open_step) {
  Outcome outcome = outcome_of([&] {
    if (meet(Call::close, open_step, put_.empty() ? 0 : 1) != 0) {
      end_step(open_step);
    }
  });
  commit_until(ended_ - 1);
  const Outcome ended = outcome_of([&] {
    if (per_step_) {
      return;
    }
    const auto everything = output_.contents().describe(catalogue_, 0, ended_);
    output_.finish(-1, everything);
    // Finishing may have cut it at the last variable that somebody put.
    output_.seal(-1, ended_ - 1, publication_.commit_file(output_.contents(), catalogue_));
  });
  if (!ended.ok()) {
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    if (rank == 0) {
      publication_.abandon_file()();
    }
  }
  return outcome.ok() ? ended : outcome;
}

}  // namespace iocomp::client
