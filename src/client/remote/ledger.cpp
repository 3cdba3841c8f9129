// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/ledger.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/error.h"
#include "client/tickets.h"
#include "protocol/messages.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::client {

using protocol::Notice;

void Ledger::forget_taken_posts(std::uint64_t number, Ticket& ticket) {
  if (transport_ != nullptr) {
    std::erase_if(ticket.posts, [this](auto post) { return transport_->is_taken(post); });
  }
  tell_hand_over(number);
}

void Ledger::tell_hand_over(std::uint64_t number) {
  Ticket* const ticket = counters_.timeline() == nullptr ? nullptr : tickets_.find(number);
  if (ticket != nullptr && ticket->put_at > 0 && ticket->posts.empty() && !ticket->kept) {
    trace::record(counters_.timeline(), trace::What::hand_over, ticket->put_at,
                  {.step = ticket->step, .ticket = number, .text = ticket->variable});
    ticket->put_at = 0;
  }
}

void Ledger::advance(std::uint64_t number, Notice::About about) {
  Ticket* ticket = tickets_.find(number);
  if (ticket == nullptr) {
    return;
  }
  ++(about == Notice::About::written ? ticket->written : ticket->durable);
  if (ticket->durable == ticket->pieces) {
    forget_taken_posts(number, *ticket);
    tickets_.settle(number);
  }
}

// A put that has failed already tells nothing more: a server may sync a file that is given up and
// removed meanwhile.
void Ledger::fail(std::uint64_t file, std::uint64_t number, const Outcome& outcome) {
  counters_.add(trace::Counter::failures, 1);
  Ticket* const ticket = tickets_.find(number);
  if (ticket != nullptr && !ticket->failure.ok()) {
    return;
  }
  if (ticket != nullptr) {
    ticket->fail(outcome);
  }
  failures_.add(file, ticket != nullptr ? ticket->step : FailureBook::no_step, outcome);
}

void Ledger::gave_up(std::uint64_t file, std::int64_t step, const Outcome& why) {
  tickets_.for_each([&](std::uint64_t, Ticket& ticket) {
    const bool is_of_step = ticket.file == file && ticket.step == step;
    if (is_of_step && ticket.failure.ok() && ticket.durable < ticket.pieces) {
      ticket.fail(why);
    }
  });
  failures_.add(file, step, why);
}

void Ledger::settled(std::uint64_t file, const EndOfStep& end_of_step) {
  std::vector<std::uint64_t> durable;
  tickets_.for_each([&](std::uint64_t number, Ticket& ticket) {
    const Outcome* const end = ticket.file == file ? end_of_step(ticket.step) : nullptr;
    if (end == nullptr || (!ticket.failure.ok() && failures_.is_told(file, ticket.failure.story))) {
      return;
    }
    if (end->ok() && ticket.failure.ok()) {
      ticket.written = ticket.durable = ticket.pieces;
      durable.push_back(number);
    } else if (!end->ok() && ticket.durable < ticket.pieces) {
      ticket.fail(*end);
    }
  });
  std::ranges::for_each(durable, [this](auto number) { tickets_.settle(number); });
}

void Ledger::lost(std::uint64_t file, std::int64_t from_step, const Outcome& cause) {
  settled(file, [&](std::int64_t step) { return step >= from_step ? &cause : nullptr; });
  failures_.add_cause(file, from_step, cause);
}

bool Ledger::has_reached(std::uint64_t number, State state) {
  Ticket* ticket = tickets_.find(number);
  if (ticket == nullptr) {
    return true;
  }
  forget_taken_posts(number, *ticket);
  if (!ticket->failure.ok()) {
    // The memory is not free before the servers have drained it, even after a failure.
    if (state == State::handed_over && !ticket->posts.empty()) {
      return false;
    }
    if (ticket->closes != 0) {
      (void)failures_.take_untold(ticket->closes);
    } else {
      failures_.told(ticket->file, ticket->failure.story);
    }
    throw Error{ticket->failure.code, ticket->failure.story};
  }
  bool reached = ticket->posts.empty() && !ticket->kept;
  if (state == State::written) {
    reached = ticket->written == ticket->pieces;
  } else if (state == State::durable) {
    reached = ticket->durable == ticket->pieces;
  }
  tickets_.settle(number);
  return reached;
}

bool Ledger::memory_is_free(std::uint64_t file) {
  bool is_kept = false;
  tickets_.for_each([&](std::uint64_t, const Ticket& ticket) {
    is_kept = is_kept || (ticket.file == file && ticket.kept);
  });
  return !is_kept && all_taken(file);
}

bool Ledger::all_taken(std::uint64_t file) {
  bool all = true;
  std::vector<std::uint64_t> settled;
  tickets_.for_each([&](std::uint64_t number, Ticket& ticket) {
    if (ticket.file == file) {
      forget_taken_posts(number, ticket);
      all = all && ticket.posts.empty();
      settled.push_back(number);
    }
  });
  std::for_each(settled.begin(), settled.end(), [this](auto number) { tickets_.settle(number); });
  return all;
}

}  // namespace iocomp::client
