// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/remote_carrier.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/byte_size.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "trace/counters.h"
#include "transport/transport.h"

namespace iocomp::client {

using protocol::Kind;

namespace {

constexpr std::size_t strided_chunk_bytes = std::size_t{1} << 20;

}  // namespace

RemoteCarrier::RemoteCarrier(Route route, Link& link, const contents::Catalogue& catalogue)
    : route_{std::move(route)}, link_{link}, catalogue_{catalogue}, copies_{route_.copies, link} {
  if (route_.keeps_posts) {
    posts_.emplace(route_.key, route_.compute_rank, link);
  }
}

std::string RemoteCarrier::what(const std::string& owed) const {
  return "compute rank " + std::to_string(route_.compute_rank) + " waits for its server " +
         std::to_string(route_.home) + ": " + owed + " of file \"" + route_.name + '"' +
         link_.progress().owed_before(route_.key);
}

const contents::Beginning& RemoteCarrier::open(const protocol::Open& open) {
  link_.post(route_.home, protocol::encode(route_.key, Kind::open, open));
  RemoteFile& remote = link_.file(route_.key);
  link_.wait_until([&] { return remote.opened.has_value(); }, [&] { return what("the opening"); });
  route_.domain_bytes = remote.opened->domain_bytes;
  if (!remote.opened->outcome.ok()) {
    const Outcome refused = remote.opened->outcome;
    link_.server_side().forget(route_.key);
    throw Error{refused.code, refused.story};
  }
  return beginning_.emplace(remote.opened->beginning);
}

// Warns of many small pieces. Each piece is a message to its server: ranks × servers of them in a
// step.
void RemoteCarrier::tell_of_small_pieces(const Block& block, std::size_t pieces) {
  constexpr std::size_t many = 8;
  constexpr std::size_t large = std::size_t{64} << 10;  // its data take longer than its message
  if (has_told_of_pieces_ || pieces < many || block.bytes() / pieces >= large) {
    return;
  }
  has_told_of_pieces_ = true;
  link_.journal().note("file \"" + route_.name + "\", variable \"" + block.variable.name +
                       "\": a block goes to " + std::to_string(pieces) + " servers, " +
                       format_bytes(static_cast<std::int64_t>(block.bytes() / pieces)) +
                       " each: blocks of whole rows, or fewer servers, would send fewer messages");
}

void RemoteCarrier::announce(const contents::Event& event, std::int64_t sequence) {
  link_.post(route_.home, protocol::encode(route_.key, Kind::event,
                                           protocol::Event{sequence, route_.compute_rank,
                                                           contents::encode(event)}));
  if (posts_) {
    posts_->define(event);
  }
  link_.pump();
}

void RemoteCarrier::enter_step(std::int64_t step) {
  RemoteFile& remote = link_.file(route_.key);
  const auto may_enter = [&] {
    return step - remote.settled <= route_.steps_in_flight || !remote.failed.ok();
  };
  if (!may_enter()) {
    const trace::Timer timer{link_.counters(), trace::Counter::buffer_wait_seconds};
    link_.wait_until(may_enter, [&] {
      return what("step " + std::to_string(catalogue_.number(remote.settled)) +
                  " to be committed (steps_in_flight = " + std::to_string(route_.steps_in_flight) +
                  ')');
    });
  }
}

void RemoteCarrier::put(const Block& block) {
  if (own_ && own_->takes(block)) {
    ++pieces_[route_.home];
    own_->put(block);
    note(block);
    return;
  }
  const auto domains =
      array::divide(block.variable.shape, static_cast<std::int64_t>(block.element_bytes()),
                    link_.server_side().count(), route_.domain_bytes);
  // A block that is contiguous in the file stays with the home server. So does a block of a format
  // that keeps blocks.
  const bool at_home = domains.parts == 1 || route_.whole_steps ||
                       array::is_contiguous(block.variable.shape, block.region);
  std::vector<array::Piece> pieces{{route_.home, 0, array::elements(block.region)}};
  if (!at_home) {
    pieces = array::cut(block.variable.shape, block.region, domains);
    tell_of_small_pieces(block, pieces.size());
  }
  const bool is_copied = copies_.must_copy(block, pieces);
  if (is_copied && !route_.whole_steps) {
    pieces = copies_.parts(block, pieces);
  }
  link_.tickets().find(block.ticket)->pieces = std::ssize(pieces);
  std::vector<Posted::Piece> kept;
  bool has_headers = false;
  for (const auto& piece : pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * block.element_bytes();
    if (copies_.travels_in_header(bytes)) {
      put_in_header(block, piece);
      has_headers = has_headers || piece.count > 0;
    } else if (is_copied) {  // so the caller's memory is free at once
      const Copy copy = copies_.copy(block, piece);
      kept.push_back(put_piece(block, piece, copy.get()));
      link_.server_side().keep_until_taken(copy, kept.back().post);
    } else {
      kept.push_back(put_piece(block, piece, nullptr));
      link_.tickets().find(block.ticket)->posts.push_back(kept.back().post);
    }
  }
  if (posts_) {
    if (has_headers) {
      posts_->keep_header(block.ticket);
    }
    posts_->keep(std::move(kept));
  }
  note(block);
  link_.pump();
}

void RemoteCarrier::put_nothing(const Block& block) { note(block); }

void RemoteCarrier::note(const Block& block) {
  variables_.add(block.variable.id, block.cover);
  if (posts_) {
    posts_->put(block);
  }
}

protocol::Piece RemoteCarrier::described(const Block& block, const array::Piece& part) {
  protocol::Piece piece;
  piece.step = block.step;
  piece.variable = block.variable.id;
  piece.events = catalogue_.events();
  piece.ticket = block.ticket;
  piece.sender = route_.compute_rank;
  piece.box = block.region.box;
  piece.first = part.first;
  if (block.region.runs) {
    piece.runs = link_.run_lists().known_to(part.part, block.region.runs, part.first, part.count);
    piece.first = 0;
  }
  piece.count = part.count;
  piece.element_bytes = static_cast<std::int32_t>(block.element_bytes());
  ++pieces_[part.part];
  return piece;
}

void RemoteCarrier::put_in_header(const Block& block, const array::Piece& part) {
  const std::size_t element = block.element_bytes();
  const std::size_t bytes = static_cast<std::size_t>(part.count) * element;
  protocol::Piece piece = described(block, part);
  std::vector<std::byte> packed;
  if (block.is_dense()) {
    piece.inside = {block.first_value() + static_cast<std::size_t>(part.first) * element, bytes};
  } else {
    packed.resize(bytes);
    block.pack(part.first, part.count, packed.data());
    piece.inside = packed;
  }
  link_.post(part.part, protocol::encode(route_.key, Kind::piece, piece));
}

Posted::Piece RemoteCarrier::put_piece(const Block& block, const array::Piece& part,
                                       const std::byte* copy) {
  const auto [server, first, count] = part;
  Posted::Piece kept{.variable = block.variable,
                     .step = block.step,
                     .region = block.region,
                     .first = first,
                     .count = count,
                     .ticket = block.ticket};
  const std::size_t element = block.element_bytes();
  const std::size_t bytes = static_cast<std::size_t>(count) * element;
  protocol::Piece piece = described(block, part);
  // Pieces that are put together with others go in the order of the file, a little of each rank.
  const bool is_strided = array::row_elements(block.variable.shape, block.region) < count;
  const std::size_t chunk =
      is_strided ? std::min(route_.chunk_bytes, strided_chunk_bytes) : route_.chunk_bytes;
  piece.chunk_elements = std::max<std::int64_t>(1, static_cast<std::int64_t>(chunk / element));
  if (route_.whole_steps) {
    piece.chunk_elements = static_cast<std::int64_t>(route_.chunk_bytes / element);
    if (!block.region.runs) {
      piece.chunk_elements = array::whole_rows(block.region.box, piece.chunk_elements);
    }
  }
  if (copy == nullptr && !block.is_dense()) {
    kept.rows = {.array = block.values,
                 .memory = block.memory,
                 .element_bytes = element,
                 .first = first,
                 .count = count};
    kept.post =
        link_.post_strided(server, protocol::encode(route_.key, Kind::piece, piece), *kept.rows);
    return kept;
  }
  kept.bytes = {
      copy != nullptr ? copy : block.first_value() + static_cast<std::size_t>(first) * element,
      bytes};
  kept.post = link_.post(server, protocol::encode(route_.key, Kind::piece, piece), kept.bytes,
                         static_cast<std::size_t>(piece.chunk_elements) * element);
  return kept;
}

protocol::StepCounts RemoteCarrier::take_counts(std::int64_t step, const StepEnd& end) {
  protocol::StepCounts counts;
  counts.step = step;
  counts.members = 1;
  counts.events = catalogue_.events();
  counts.pieces.assign(pieces_.begin(), pieces_.end());
  counts.variables = std::exchange(variables_, {});
  counts.sums = end.sums;
  counts.predecessors = end.predecessors;
  counts.unfinished = end.is_unfinished ? 1 : 0;
  pieces_.clear();
  return counts;
}

void RemoteCarrier::end_step(std::int64_t step, const StepEnd& end) {
  ended_ = step + 1;
  if (own_) {
    own_->ended(step);
  }
  link_.post(route_.home, protocol::encode(route_.key, Kind::end_step, take_counts(step, end)));
  if (posts_) {
    posts_->end_step(step, end);
  }
  link_.pump();
  if (has_lost(step)) {
    link_.failures().tell(route_.key, link_.file(route_.key).failed);
  }
}

bool RemoteCarrier::has_lost(std::int64_t step) const {
  const RemoteFile& remote = link_.file(route_.key);
  return !remote.failed.ok() && step >= remote.failed_from;
}

void RemoteCarrier::wait_step(std::int64_t step) {
  RemoteFile& remote = link_.file(route_.key);
  link_.wait_until(
      [&] { return remote.settled > step || has_lost(step); },
      [&] { return what("the commit of step " + std::to_string(catalogue_.number(step))); });
  const auto failure = remote.failures.find(step);
  const Outcome outcome = failure != remote.failures.end() ? failure->second : Outcome{};
  const Outcome& told = outcome.ok() && remote.settled <= step ? remote.failed : outcome;
  if (!told.ok()) {
    link_.failures().tell(route_.key, told);
  }
}

bool RemoteCarrier::tell_of(const protocol::Other& other, bool waits) {
  if (!waits && !link_.has_credit(route_.home)) {
    return false;
  }
  link_.post(route_.home, protocol::encode(route_.key, Kind::other, other));
  return true;
}

void RemoteCarrier::urge(std::uint64_t ticket, State state) {
  const Ticket* open = link_.tickets().find(ticket);
  if (route_.whole_steps && open != nullptr) {
    if (state != State::handed_over && open->failure.ok() && open->step >= ended_) {
      throw Error{ErrorCode::invalid_argument,
                  "file \"" + route_.name + "\", variable \"" + open->variable +
                      "\": this back-end writes whole steps; call end_step before waiting for "
                      "more than handed over"};
    }
    return;
  }
  if (state == State::handed_over || open == nullptr) {
    return;
  }
  const bool durable = state == State::durable;
  if (!durable && (open->step < ended_ || open->pieces == open->written || !open->failure.ok())) {
    return;  // at the end of a step everything is written anyway
  }
  if (durable && own_) {
    own_->hurry();
  }
  const protocol::StepNote until{open->step, -1, durable ? 1 : 0, {}};
  // Any server may have pieces. Servers that have none of this file ignore the message.
  for (int server = 0; server < link_.server_side().count(); ++server) {
    link_.post(server, protocol::encode(route_.key, Kind::flush, until));
  }
}

void RemoteCarrier::wanted_back(std::uint64_t ticket) {
  const Ticket* open = link_.tickets().find(ticket);
  if (own_ && open != nullptr && open->kept) {
    own_->wanted_back(ticket);
  }
}

void RemoteCarrier::begin_close(std::int64_t open_step, const StepEnd& end) {
  if (own_) {
    own_->ended(open_step);
  }
  link_.post(route_.home, protocol::encode(route_.key, Kind::close, take_counts(open_step, end)));
}

// Steps that all had ended before the file failed are committed all the same, some with the file.
bool RemoteCarrier::is_over() const {
  const RemoteFile& remote = link_.file(route_.key);
  const bool is_known = !remote.failed.ok() && remote.settled >= remote.failed_from &&
                        (!route_.appears_at_close || remote.failed_from == 0);
  return remote.closed.has_value() || is_known;
}

bool RemoteCarrier::has_no_blocks() const {
  return link_.ledger().all_taken(route_.key) && (!own_ || own_->is_idle());
}

Outcome RemoteCarrier::close() {
  link_.wait_until([&] { return is_over(); },
                   [&] { return what("the closing (do all compute ranks close it?)"); });
  const RemoteFile& remote = link_.file(route_.key);
  const Outcome outcome = remote.closed.value_or(remote.failed);
  link_.wait_until([&] { return has_no_blocks(); },
                   [&] { return what("the last blocks to be taken"); });
  // Home may have told of a step before another server told of its blocks.
  const Outcome committed;
  link_.ledger().settled(route_.key, [&](std::int64_t step) -> const Outcome* {
    const auto failure = remote.failures.find(step);
    return failure != remote.failures.end() ? &failure->second
           : step < remote.settled          ? &committed
                                            : nullptr;
  });
  link_.server_side().forget(route_.key);
  return outcome;
}

// Servers finish the blocks that they have, or have a copy of.
std::int64_t RemoteCarrier::give_up(std::int64_t open_step, const Outcome& why) {
  std::int64_t from = open_step;
  link_.tickets().for_each([&](std::uint64_t number, const Ticket& ticket) {
    if (ticket.file == route_.key && ticket.failure.ok() &&
        !link_.ledger().has_reached(number, State::handed_over)) {
      from = std::min(from, ticket.step);
    }
  });
  link_.post(route_.home,
             protocol::encode(route_.key, Kind::give_up, protocol::StepNote{from, -1, 0, why}));
  return from;
}

}  // namespace iocomp::client
