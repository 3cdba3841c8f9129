// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"
#include "client/tickets.h"
#include "protocol/messages.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

/// How far the puts of this rank have come, and which failures the program has to be told.
class Ledger {
 public:
  /// @param transport  of the posts; may be nothing.
  Ledger(transport::Transport* transport, trace::Counters& counters)
      : transport_{transport}, counters_{counters} {}

  [[nodiscard]] TicketBook& tickets() noexcept { return tickets_; }
  [[nodiscard]] FailureBook& failures() noexcept { return failures_; }

  /// A server tells that a piece of a ticket is written or durable.
  void advance(std::uint64_t ticket, protocol::Notice::About about);
  /// What a step has come to; nothing where that is not known.
  using EndOfStep = std::function<const Outcome*(std::int64_t)>;
  /// Steps of a file are committed, and so all puts into them are durable; or they have failed.
  /// What a put was told to have failed of before that it keeps.
  void settled(std::uint64_t file, const EndOfStep& end_of_step);
  /// The file has failed from a step on: the cause of what was not told before.
  void lost(std::uint64_t file, std::int64_t from_step, const Outcome& cause);
  /// Record a failure that a call shall tell later.
  void fail(std::uint64_t file, std::uint64_t ticket, const Outcome& outcome);

  /// Whether a ticket has reached a state. @throws Error with the ticket's failure.
  [[nodiscard]] bool has_reached(std::uint64_t ticket, State state);
  /// Whether the caller's memory is free of all puts into a file. Settled tickets are forgotten on
  /// the way.
  [[nodiscard]] bool all_taken(std::uint64_t file);
  /// Whether the memory of all puts of a file is the program's again.
  [[nodiscard]] bool memory_is_free(std::uint64_t file);
  /// Tell the timeline, once, if the caller's memory is free of a put as far as this rank knows.
  void tell_hand_over(std::uint64_t ticket);

 private:
  void forget_taken_posts(std::uint64_t number, Ticket& ticket);

  transport::Transport* transport_;
  trace::Counters& counters_;
  TicketBook tickets_;
  FailureBook failures_;
};

}  // namespace iocomp::client
