#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "client/direct_carrier.h"
#include "client/direct_output.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"

namespace iocomp::client {

void DirectCarrier::fail_step(std::int64_t step, const Outcome& outcome) {
  failed_.emplace(step, outcome);
  link_.failures().add(key_, outcome);
  output_.drop_step(step);
  const auto job = publication_.drop_step(step);
  if (per_step_) {
    output_.forget(step);
    link_.tickets().for_each([&](std::uint64_t, Ticket& ticket) {
      if (ticket.file == key_ && ticket.step == step && ticket.failure.ok() &&
          ticket.durable < ticket.pieces) {
        ticket.failure = outcome;  // its bytes are gone with the file
      }
    });
    if (is_first()) {
      job();
    }
  }
}

void DirectCarrier::commit_until(std::int64_t step) {
  for (; next_commit_ <= step; ++next_commit_) {
    const std::int64_t committing = next_commit_;
    const Outcome outcome = outcome_of([&] { together([&] { commit(committing); }); });
    if (!outcome.ok()) {
      fail_step(committing, lost_.ok() ? in_file(outcome, committing) : lost_);
    }
  }
}

void DirectCarrier::commit(std::int64_t step) {
  const std::int64_t target = publication_.target_of(step);
  output_.agree(outcome_of([&] { output_.sync(target); }), "the fsync of a step");
  if (!output_.writes_whole_steps()) {
    mark_durable(step);
  }
  if (per_step_) {
    output_.finish(target, step, step);
  } else if (!readable_while_open_ && !output_.writes_whole_steps()) {
    output_.flush(target);
  }
  output_.seal(target, step,
               [&] { return publication_.commit_step(step, output_.contents(), catalogue_); });
  if (output_.writes_whole_steps()) {
    mark_durable(step);
  }
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
    // Whether they meet or not, commit_until knows what becomes of the steps.
    (void)outcome_of([&] { together([&] { meet("wait_step", step); }); });
    commit_until(step);
  }
  const auto failure = failed_.find(step);
  if (failure != failed_.end()) {
    link_.failures().told(key_, failure->second.story);
    throw Error{failure->second.code, failure->second.story};
  }
}

// The members make different calls, and all of them are here, for the last time: what they have
// ended is kept.
void DirectCarrier::keep_ended_steps() {
  commit_until(ended_ - 1);
  if (!per_step_ && next_commit_ > 0) {
    (void)end_file();
  }
}

// Of the steps that are settled.
Outcome DirectCarrier::end_file() {
  const bool nothing_left =
      next_commit_ > 0 && static_cast<std::int64_t>(failed_.size()) >= next_commit_;
  Outcome ended = outcome_of([&] {
    together([&] {
      output_.finish(-1, 0, next_commit_);
      if (!nothing_left) {
        // Finishing may have cut it at the last variable that somebody put.
        output_.seal(-1, next_commit_ - 1,
                     [&] { return publication_.commit_file(output_.contents(), catalogue_); });
      }
    });
  });
  if ((!ended.ok() || nothing_left) && is_first()) {
    publication_.abandon_file()();
  }
  return ended;
}

Outcome DirectCarrier::close(std::int64_t open_step) {
  std::int64_t puts = 0;
  Outcome outcome = outcome_of(
      [&] { together([&] { puts = meet("close", open_step, coverage_.is_empty() ? 0 : 1); }); });
  if (outcome.ok() && puts != 0) {
    outcome = outcome_of([&] { end_step(open_step); });
  }
  commit_until(ended_ - 1);
  if (per_step_) {
    return lost_.ok() ? outcome : lost_;
  }
  const Outcome ended = end_file();
  if (!lost_.ok()) {
    return lost_;
  }
  return !outcome.ok() || ended.ok() ? outcome : in_file(ended);
}

}  // namespace iocomp::client
