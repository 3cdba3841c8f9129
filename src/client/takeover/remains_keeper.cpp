// SPDX-License-Identifier: BSD-3-Clause
#include "client/takeover/remains_keeper.h"

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
#include "client/takeover/remains.h"
#include "client/tickets.h"
#include "contents/catalogue.h"

namespace iocomp::client {

void RemainsKeeper::define(const contents::Event& event) {
  remains_.events.push_back(contents::encode(event));
}

void RemainsKeeper::put(const Block& block) {
  Remains::Step& step = remains_.steps[block.step];
  step.variables.add(block.variable.id, block.cover);
  step.puts.add({.variable = block.variable.id,
                 .rank = rank_,
                 .part = {block.region, 0, array::elements(block.region)}});
}

void RemainsKeeper::keep(std::vector<Remains::Piece> pieces) {
  auto& all = remains_.pieces;
  all.insert(all.end(), std::make_move_iterator(pieces.begin()),
             std::make_move_iterator(pieces.end()));
  forget_if_many();
}

void RemainsKeeper::keep_header(std::uint64_t ticket) {
  remains_.in_headers.push_back(ticket);
  forget_if_many();
}

void RemainsKeeper::forget_if_many() {
  if (remains_.pieces.size() + remains_.in_headers.size() > next_look_) {
    forget_written();
  }
}

void RemainsKeeper::end_step(std::int64_t step, const StepEnd& end) {
  Remains::Step& ended = remains_.steps[step];
  ended.ended = true;
  ended.sums = end.sums;
  ended.predecessors = end.predecessors;
  ended.events = std::ssize(remains_.events);
  remains_.ended = step + 1;
  forget_settled();
}

// Blocks that are written survive their server.
void RemainsKeeper::forget_written() {
  constexpr std::size_t few = 256;
  const auto is_safe = [this](std::uint64_t number) {
    const Ticket* ticket = link_.tickets().find(number);
    return ticket == nullptr || !ticket->failure.ok() || ticket->written == ticket->pieces;
  };
  std::erase_if(remains_.pieces, [&](const auto& piece) { return is_safe(piece.ticket); });
  std::erase_if(remains_.in_headers, is_safe);
  next_look_ = 2 * (remains_.pieces.size() + remains_.in_headers.size()) + few;
}

// A failed step may be the last that the servers have settled. Then the ranks agree on it again.
void RemainsKeeper::forget_settled() {
  const RemoteFile& remote = link_.file(file_);
  for (; next_settled_ < remote.settled; ++next_settled_) {
    if (const auto failure = remote.failures.find(next_settled_);
        failure != remote.failures.end()) {
      remains_.steps[next_settled_].failure = failure->second;
    } else {
      remains_.committed = next_settled_ + 1;
    }
  }
  remains_.steps.erase(remains_.steps.begin(), remains_.steps.lower_bound(remains_.committed));
}

Remains RemainsKeeper::take() {
  forget_written();
  forget_settled();
  remains_.failed = link_.file(file_).failures;
  return std::move(remains_);
}

}  // namespace iocomp::client
