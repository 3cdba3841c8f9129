#include "client/kernel_holes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "array/region.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {
KernelHoles::KernelHoles(Circle circle, const std::vector<int>& members,
                         const contents::Catalogue& catalogue, bool may_overlap)
    : circle_{std::move(circle)},
      compute_rank_{members.at(static_cast<std::size_t>(circle_.rank()))},
      coverage_{catalogue, may_overlap} {}

void KernelHoles::note(const Block& block) {
  puts_[block.step].add({.variable = block.variable.id,
                         .rank = compute_rank_,
                         .part = {block.region, 0, array::elements(block.region)}});
}

void KernelHoles::take_over(std::int64_t step, steps::PutLog puts) {
  puts_.insert_or_assign(step, std::move(puts));
}

void KernelHoles::look(std::int64_t step, steps::Covers put) {
  step_ = step;
  put_ = std::move(put);
  outcome_ = {};
  look_ = coverage_.look(step, put_);
  stage_ = look_.unsure.empty() ? Stage::ended : Stage::count;
  if (stage_ == Stage::count) {
    mine_ = my_puts();
    operation_.gather(circle_, std::ssize(mine_));
  }
}

// How many bytes, then these, in whole words.
std::vector<std::int64_t> KernelHoles::my_puts() const {
  protocol::PutReport report{step_, {}};
  if (const auto puts = puts_.find(step_); puts != puts_.end()) {
    report.puts = puts->second.of(look_.unsure);
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
    learn();
  }
  return stage_ == Stage::ended;
}

// All ranks have all puts, so all learn the same.
void KernelHoles::learn() {
  auto questions = coverage_.ask(step_, look_.unsure, put_, all_puts());
  std::ranges::for_each(questions, steps::answer);
  outcome_ = coverage_.learn(step_, questions, look_.holes);
}

}  // namespace iocomp::client
