// SPDX-License-Identifier: BSD-3-Clause
#include "client/exchange/exchange_round.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/element_type.h"
#include "array/pieces.h"
#include "array/region.h"
#include "base/wire.h"
#include "client/carrier.h"
#include "client/exchange/exchange_parts.h"
#include "contents/variable.h"
#include "mpi/wait.h"
#include "writing/piece.h"

namespace iocomp::client {
namespace {

constexpr const char* others = "the other ranks to exchange their blocks of a step";

}  // namespace

ExchangeRound::ExchangeRound(const Exchange::Setup& setup, int rank, ExchangedRuns& runs,
                             const Exchange::FindVariable& variable, const Exchange::Target& target)
    : setup_{setup},
      rank_{rank},
      runs_{runs},
      find_variable_{variable},
      target_{target},
      messages_{setup.comm, setup.policy, others},
      sends_{setup.comm} {
  const auto at = std::ranges::lower_bound(setup.aggregators, rank);
  if (at != setup.aggregators.end() && *at == rank) {
    me_ = static_cast<int>(at - setup.aggregators.begin());
  }
}

const contents::Variable& ExchangeRound::variable(std::int64_t id) {
  const auto found = variables_.find(id);
  return found != variables_.end()
             ? found->second
             : variables_.emplace(id, find_variable_(static_cast<int>(id))).first->second;
}

array::Domains ExchangeRound::domains(const contents::Variable& of) const {
  return array::divide(of.shape, static_cast<std::int64_t>(array::size_bytes(of.type)),
                       static_cast<int>(setup_.aggregators.size()), setup_.alignment_bytes);
}

std::shared_ptr<writing::Piece> ExchangeRound::piece(const contents::Variable& of,
                                                     const array::Region& region,
                                                     const array::Piece& cut) const {
  auto piece = std::make_shared<writing::Piece>();
  piece->variable = of;
  piece->region = region;
  piece->first = cut.first;
  piece->elements_left = cut.count;
  piece->domain_begin = domains(of).begin(cut.part);
  piece->domain_end = domains(of).begin(cut.part + 1);
  piece->stripe_elements = std::max<std::int64_t>(1, setup_.stripe_bytes / piece->element_bytes());
  if (cut.part == me_) {
    piece->offset = target_.offset(of);
  }
  return piece;
}

// A piece of a list of runs is a list of its own on the aggregator.
std::map<int, ExchangeRound::Outbound> ExchangeRound::cut(const std::vector<const Block*>& blocks) {
  std::map<int, Outbound> outbound;
  for (const Block* block : blocks) {
    const contents::Variable& of = variable(block->variable.id);
    const array::Region& region = block->region;
    for (const auto& cut : array::cut(of.shape, region, domains(of))) {
      const int to = setup_.aggregators[static_cast<std::size_t>(cut.part)];
      client::cut({.piece = piece(of, region, cut), .block = block}, outbound[to].parts);
      ExchangedPiece told{of.id, region.box, 0, cut.first, cut.count};
      if (region.runs && to != rank_) {
        told.runs = runs_.known_to(to, region.runs, cut.first, cut.count);
        told.first = 0;
      }
      outbound[to].pieces.push_back(told);
    }
  }
  return outbound;
}

void ExchangeRound::tell(const std::vector<const Block*>& blocks) {
  runs_.forget_unused();
  std::vector<ExchangedPart> inbound;
  std::map<int, std::vector<std::byte>> messages;
  for (auto& [to, out] : cut(blocks)) {
    if (to == rank_) {
      inbound = std::move(out.parts);
      continue;
    }
    sort(out.parts);
    sends_.add(to, std::move(out.parts));
    WireWriter writer;
    writer.put_bytes(std::as_bytes(std::span{out.pieces}));
    writer.put_bytes(runs_.take_news(to));
    messages[to] = writer.take();
  }
  for (const auto& [from, message] : messages_.pass(std::move(messages))) {
    hear(from, message, inbound);
  }
  sort(inbound);
  stripes_ = std::make_unique<ExchangeStripes>(setup_, target_, std::move(inbound));
}

void ExchangeRound::hear(int from, std::span<const std::byte> message,
                         std::vector<ExchangedPart>& parts) {
  WireReader reader{message};
  WireReader pieces{reader.get_bytes()};
  runs_.hear(from, reader.get_bytes());
  while (pieces.bytes_left() > 0) {
    const auto told = pieces.get<ExchangedPiece>();
    array::check(told.box);
    const array::Region region =
        told.runs != 0 ? array::Region{runs_.list(from, told.runs)} : array::Region{told.box};
    client::cut({.piece = piece(variable(told.variable), region, {me_, told.first, told.count}),
                 .from = from},
                parts);
  }
}

void ExchangeRound::move() {
  mpi::Nap nap;
  mpi::Deadline deadline{setup_.policy};
  while (!sends_.is_done() || !stripes_->is_done()) {
    const bool has_sent = sends_.advance();
    const bool has_taken = stripes_->advance();
    if (has_sent || has_taken) {
      nap.reset();
      deadline.moved();
    } else {
      nap.pause();
      deadline.check([] { return std::string{others}; });
    }
  }
}

}  // namespace iocomp::client
