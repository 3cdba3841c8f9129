#include "client/kernel_holes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/coverage.h"
#include "array/element_type.h"
#include "array/region.h"
#include "contents/overlap.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {
namespace {

constexpr std::int64_t least_share_bytes = std::int64_t{256} << 10;

}  // namespace

KernelHoles::KernelHoles(Circle circle, const std::vector<int>& members,
                         const contents::Catalogue& catalogue, bool may_overlap)
    : circle_{std::move(circle)},
      compute_rank_{members.at(static_cast<std::size_t>(circle_.rank()))},
      catalogue_{catalogue},
      may_overlap_{may_overlap} {}

void KernelHoles::note(const Block& block) {
  puts_[block.step].add({.variable = block.variable.id,
                         .rank = compute_rank_,
                         .part = {block.region, 0, array::elements(block.region)}});
}

void KernelHoles::take_over(std::int64_t step, steps::PutLog puts) {
  puts_.insert_or_assign(step, std::move(puts));
}

void KernelHoles::look(std::int64_t step, std::map<int, array::Cover> variables) {
  step_ = step;
  variables_ = std::move(variables);
  outcome_ = {};
  unsure_.clear();
  for (const auto& [variable, cover] : variables_) {
    const auto known = gaps_.find(variable);
    if (known == gaps_.end() || known->second.cover != cover ||
        known->second.shape != catalogue_.variable(variable, step).shape) {
      unsure_.push_back(variable);
    }
  }
  stage_ = unsure_.empty() ? Stage::ended : Stage::count;
  if (stage_ == Stage::count) {
    mine_ = my_puts();
    operation_.gather(circle_, std::ssize(mine_));
  }
}

// How many bytes, then these, in whole words.
std::vector<std::int64_t> KernelHoles::my_puts() const {
  protocol::PutReport report{step_, {}};
  if (const auto puts = puts_.find(step_); puts != puts_.end()) {
    report.puts = puts->second.of(unsure_);
  }
  const auto message = protocol::encode(0, report);
  constexpr std::size_t word = sizeof(std::int64_t);
  std::vector<std::int64_t> words(1 + (message.size() + word - 1) / word);
  words[0] = std::ssize(message);
  std::memcpy(words.data() + 1, message.data(), message.size());
  return words;
}

std::vector<steps::PutRecord> KernelHoles::all_puts() const {
  std::vector<steps::PutRecord> all;
  std::size_t at = 0;
  for (const auto count : counts_) {
    const auto words = std::span{operation_.values()}.subspan(at, static_cast<std::size_t>(count));
    const auto bytes =
        std::as_bytes(words.subspan(1)).first(static_cast<std::size_t>(words.front()));
    auto report = protocol::decode_put_report(protocol::body(bytes));
    std::ranges::move(report.puts, std::back_inserter(all));
    at += words.size();
  }
  return all;
}

bool KernelHoles::advance() {
  if (stage_ == Stage::count && operation_.test()) {
    counts_ = operation_.values();
    operation_.join(circle_, mine_, counts_);
    stage_ = Stage::join;
  }
  if (stage_ == Stage::join && operation_.test()) {
    stage_ = Stage::ended;
    const auto puts = all_puts();
    for (const int variable : unsure_) {
      outcome_ = outcome_.ok() ? look_at(variable, puts) : outcome_;
    }
  }
  return stage_ == Stage::ended;
}

// The same on all ranks, but for the share.
Outcome KernelHoles::look_at(int variable, const std::vector<steps::PutRecord>& puts) {
  gaps_.erase(variable);
  std::vector<array::Part> parts;
  std::vector<int> ranks;
  for (const auto& put : puts) {
    if (put.variable == variable) {
      parts.push_back(put.part);
      ranks.push_back(put.rank);
    }
  }
  const auto of = catalogue_.variable(variable, step_);
  const auto found = array::coverage_of(of.shape, parts);
  if (const auto& overlap = found.overlap; overlap && !may_overlap_) {
    const auto whose = [&](std::size_t part) {
      return contents::whose_put(ranks[part], parts[part].region);
    };
    return contents::overlap(of, overlap->index, whose(overlap->one), whose(overlap->other));
  }
  gaps_[variable] = {variables_.at(variable), of.shape,
                     std::make_shared<const array::RunList>(share_of(variable, found.holes))};
  return {};
}

array::RunList KernelHoles::share_of(int variable, const array::RunList& holes) const {
  const std::int64_t ranks = circle_.size();
  const auto element =
      static_cast<std::int64_t>(array::size_bytes(catalogue_.variable(variable, step_).type));
  const std::int64_t all = holes.elements();
  const std::int64_t writers =
      std::clamp(all * element / least_share_bytes, std::int64_t{1}, ranks);
  const std::int64_t number = (circle_.rank() + variable) % ranks;  // not the same one always
  if (number >= writers) {
    return {};
  }
  const std::int64_t first = all / writers * number + std::min(all % writers, number);
  return holes.part(first, all / writers + (number < all % writers ? 1 : 0));
}

KernelHoles::Shares KernelHoles::shares() const {
  Shares shares;
  for (const auto& [variable, cover] : variables_) {
    if (const auto& share = gaps_.at(variable).share; share->elements() > 0) {
      shares.emplace(variable, share);
    }
  }
  return shares;
}

}  // namespace iocomp::client
