// How the members of a file whose last puts win learn what the others put.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "array/region.h"
#include "array/run_list.h"
#include "array/subtract.h"
#include "base/error.h"
#include "base/wire.h"
#include "client/last_carrier.h"
#include "client/meeting.h"
#include "contents/catalogue.h"
#include "mpi/agree.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {
namespace {

constexpr const char* others = "the other ranks to end a step in which the last put wins";

}  // namespace

void LastCarrier::together(const std::function<void()>& body) {
  const Outcome outcome = outcome_of(body);
  if (outcome.ok()) {
    return;
  }
  lost_ = {outcome.code, "file \"" + setup_.name + "\": " + outcome.story};
  abandon();
  link_.failures().add(setup_.key, lost_);
  drop_kept();
  link_.tickets().for_each([this](std::uint64_t, Ticket& ticket) {
    if (ticket.file == setup_.key && ticket.failure.ok() && !ticket.settled()) {
      ticket.failure = lost_;
    }
  });
  link_.failures().told(setup_.key, lost_.story);
  throw Error{lost_.code, lost_.story};
}

// Where the members make different calls the carrier inside finds that out, and tells them.
bool LastCarrier::meet(const char* call, std::int64_t step) {
  const std::int64_t mine =
      positive(mix(mix(definitions_, std::string{call}), static_cast<std::uint64_t>(step)));
  std::array<std::int64_t, 2> most{mine, -mine};
  mpi::maximum(setup_.comm.raw(), most, policy_, others);
  is_apart_ = most[0] != mine || most[1] != -mine;
  return !is_apart_;
}

// The variables that were put, but for those of which every element was put once, or as in an
// earlier step.
std::map<int, array::Cover> LastCarrier::unsure(std::int64_t step) {
  constexpr std::size_t words = array::CoverWords{}.size();
  std::map<int, array::Cover> mine;
  for (const auto& kept : kept_) {
    array::add(mine[kept.block.variable.id], kept.block.cover);
  }
  std::vector<std::int64_t> sums(static_cast<std::size_t>(catalogue_.variables()) * words, 0);
  for (const auto& [variable, cover] : mine) {
    std::ranges::copy(array::words_of(cover),
                      sums.begin() + variable * static_cast<std::ptrdiff_t>(words));
  }
  mpi::sum(setup_.comm.raw(), sums, policy_, others);
  std::map<int, array::Cover> found;
  for (int variable = 0; variable < catalogue_.variables(); ++variable) {
    array::CoverWords of_one{};
    std::copy_n(sums.begin() + variable * static_cast<std::ptrdiff_t>(words), words,
                of_one.begin());
    const array::Cover cover = array::cover_from(of_one);
    if (cover.elements == 0) {
      continue;
    }
    const auto shape = catalogue_.variable(variable, step).shape;
    const auto looked = looked_.find(variable);
    const bool is_known =
        looked != looked_.end() && looked->second.cover == cover && looked->second.shape == shape;
    if (!is_known && cover != array::cover_of_all(shape)) {
      found.emplace(variable, cover);
    }
  }
  return found;
}

LastCarrier::Puts LastCarrier::gather(const std::map<int, array::Cover>& variables) {
  protocol::PutReport mine;
  for (const auto& kept : kept_) {
    if (variables.contains(kept.block.variable.id)) {
      mine.puts.push_back({.variable = kept.block.variable.id,
                           .rank = rank_,
                           .part = {kept.block.region, 0, array::elements(kept.block.region)}});
    }
  }
  const auto message = protocol::encode(0, mine);
  std::string text(message.size(), '\0');
  std::memcpy(text.data(), message.data(), message.size());
  WireWriter writer;
  for (const auto& one : mpi::gather(setup_.comm.raw(), 0, text, policy_, others)) {
    writer.put_text(one);
  }
  auto all = writer.take();
  mpi::broadcast(setup_.comm.raw(), 0, all, policy_, others);
  Puts puts;
  for (WireReader reader{all}; reader.bytes_left() > 0;) {
    auto report = protocol::decode_put_report(protocol::body(reader.get_bytes()));
    std::ranges::move(report.puts, std::back_inserter(puts));
  }
  return puts;
}

void LastCarrier::look_for_later(std::int64_t step) {
  const auto variables = unsure(step);
  if (variables.empty()) {
    return;
  }
  std::map<int, std::vector<const steps::PutRecord*>> of;
  const Puts puts = gather(variables);
  for (const auto& put : puts) {
    of[put.variable].push_back(&put);
  }
  std::map<int, std::size_t> next;  // number of the next put of this rank
  std::map<int, std::int64_t> is_clipped;
  for (std::size_t number = 0; number < kept_.size(); ++number) {
    const Block& block = kept_[number].block;
    const int variable = block.variable.id;
    const auto& all = of[variable];
    if (all.empty()) {
      continue;
    }
    auto at = next.try_emplace(variable, 0).first;
    while (all[at->second]->rank != rank_) {
      ++at->second;
    }
    ++at->second;  // from here on they are later
    std::vector<array::Region> later;
    for (std::size_t i = at->second; i < all.size(); ++i) {
      const auto& region = all[i]->part.region;
      if (array::may_meet(block.variable.shape, block.region, region)) {
        later.push_back(region);
      }
    }
    if (later.empty()) {
      continue;
    }
    auto left = array::subtract(block.variable.shape, block.region, later);
    if (left.elements() < array::elements(block.region)) {
      left_.emplace(number, std::make_shared<const array::RunList>(std::move(left)));
      is_clipped[variable] = 1;
    }
  }
  std::vector<std::int64_t> clipped;
  for (const auto& [variable, cover] : variables) {
    clipped.push_back(is_clipped[variable]);
  }
  mpi::maximum(setup_.comm.raw(), clipped, policy_, others);
  auto overlaps = clipped.begin();
  for (const auto& [variable, cover] : variables) {
    if (*overlaps++ == 0) {
      looked_[variable] = {cover, catalogue_.variable(variable, step).shape};
    }
  }
}

}  // namespace iocomp::client
