// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/post_book.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "client/council/meeting.h"
#include "client/link.h"
#include "client/tickets.h"
#include "contents/catalogue.h"

namespace iocomp::client {

void PostBook::define(const contents::Event& event) {
  posted_.events.push_back(contents::encode(event));
}

void PostBook::put(const Block& block) {
  Posted::Step& step = posted_.steps[block.step];
  step.variables.add(block.variable.id, block.cover);
  step.puts.add({.variable = block.variable.id,
                 .rank = rank_,
                 .part = {block.region, 0, array::elements(block.region)}});
}

void PostBook::keep(std::vector<Posted::Piece> pieces) {
  auto& all = posted_.pieces;
  all.insert(all.end(), std::make_move_iterator(pieces.begin()),
             std::make_move_iterator(pieces.end()));
  forget_if_many();
}

void PostBook::keep_header(std::uint64_t ticket) {
  posted_.in_headers.push_back(ticket);
  forget_if_many();
}

void PostBook::forget_if_many() {
  if (posted_.pieces.size() + posted_.in_headers.size() > next_look_) {
    forget_written();
  }
}

void PostBook::end_step(std::int64_t step, const StepEnd& end) {
  Posted::Step& ended = posted_.steps[step];
  ended.ended = true;
  ended.sums = end.sums;
  ended.predecessors = end.predecessors;
  ended.events = std::ssize(posted_.events);
  posted_.ended = step + 1;
  forget_settled();
}

// Blocks that are written survive their server.
void PostBook::forget_written() {
  constexpr std::size_t few = 256;
  const auto is_safe = [this](std::uint64_t number) {
    const Ticket* ticket = link_.tickets().find(number);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  };
  std::erase_if(posted_.pieces, [&](const auto& piece) { return is_safe(piece.ticket); });
  std::erase_if(posted_.in_headers, is_safe);
  next_look_ = 2 * (posted_.pieces.size() + posted_.in_headers.size()) + few;
}

// A failed step may be the last that the servers have settled. Then the ranks agree on it again.
void PostBook::forget_settled() {
  const RemoteFile& remote = link_.file(file_);
  for (; next_settled_ < remote.settled; ++next_settled_) {
    if (const auto failure = remote.failures.find(next_settled_);
        failure != remote.failures.end()) {
      posted_.steps[next_settled_].failure = failure->second;
    } else {
      posted_.committed = next_settled_ + 1;
    }
  }
  posted_.steps.erase(posted_.steps.begin(), posted_.steps.lower_bound(posted_.committed));
}

Posted PostBook::take() {
  forget_written();
  forget_settled();
  posted_.failed = link_.file(file_).failures;
  return std::move(posted_);
}

}  // namespace iocomp::client
