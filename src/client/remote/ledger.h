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

/// The progress of this rank's puts, and the failures that the program must be told.
class Ledger {
 public:
  /// @param transport  of the posts; may be null.
  Ledger(transport::Transport* transport, trace::Counters& counters)
      : transport_{transport}, counters_{counters} {}

  [[nodiscard]] TicketBook& tickets() noexcept { return tickets_; }
  [[nodiscard]] FailureBook& failures() noexcept { return failures_; }

  /// A server tells that a piece of a ticket is written or durable.
  void advance(std::uint64_t ticket, protocol::Notice::About about);
  /// The outcome of a step; null if it is not known.
  using EndOfStep = std::function<const Outcome*(std::int64_t)>;
  /// Steps of a file are committed, and so all puts into them are durable; or they have failed. A
  /// put keeps the first failure that it was told.
  void settled(std::uint64_t file, const EndOfStep& end_of_step);
  /// The file has failed from a step on. This is the cause of failures that were not told before.
  void lost(std::uint64_t file, std::int64_t from_step, const Outcome& cause);
  /// A step was given up, and with it the puts into it that are not durable.
  void gave_up(std::uint64_t file, std::int64_t step, const Outcome& why);
  /// Record a failure that a later call must tell, unless the put has failed already.
  void fail(std::uint64_t file, std::uint64_t ticket, const Outcome& outcome);

  /// True if a ticket has reached a state. @throws Error with the ticket's failure.
  [[nodiscard]] bool has_reached(std::uint64_t ticket, State state);
  /// True if the caller's memory is free of all puts into a file. Settled tickets are forgotten.
  [[nodiscard]] bool all_taken(std::uint64_t file);
  /// True if the memory of all puts of a file is the program's again.
  [[nodiscard]] bool memory_is_free(std::uint64_t file);
  /// Tell the timeline, once, when this rank knows that the caller's memory is free of a put.
  void tell_hand_over(std::uint64_t ticket);

 private:
  void forget_taken_posts(std::uint64_t number, Ticket& ticket);

  transport::Transport* transport_;
  trace::Counters& counters_;
  TicketBook tickets_;
  FailureBook failures_;
};

}  // namespace iocomp::client
