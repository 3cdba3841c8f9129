#include "client/step_coverage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/cover.h"
#include "array/coverage.h"
#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "contents/catalogue.h"
#include "contents/overlap.h"
#include "mpi/agree.h"
#include "protocol/header.h"
#include "protocol/messages.h"
#include "protocol/put_messages.h"

namespace iocomp::client {

void StepCoverage::note(const Block& block) {
  array::add(mine_[block.variable.id], block.cover);
  puts_.add({.variable = block.variable.id,
             .rank = compute_rank_,
             .part = {block.region, 0, array::elements(block.region)}});
}

void StepCoverage::begin_step() {
  mine_.clear();
  puts_.clear();
  all_.clear();
}

std::vector<int> StepCoverage::sum() {
  constexpr std::size_t words = array::CoverWords{}.size();
  std::vector<std::int64_t> sums(static_cast<std::size_t>(catalogue_.variables()) * words, 0);
  for (const auto& [variable, cover] : mine_) {
    std::ranges::copy(array::words_of(cover),
                      sums.begin() + variable * static_cast<std::ptrdiff_t>(words));
  }
  mpi::sum(comm_, sums, policy_, "the variables of a step");
  std::vector<int> variables;
  for (int variable = 0; variable < catalogue_.variables(); ++variable) {
    array::CoverWords of_one{};
    std::copy_n(sums.begin() + variable * static_cast<std::ptrdiff_t>(words), words,
                of_one.begin());
    const array::Cover cover = array::cover_from(of_one);
    if (cover.elements > 0) {
      all_[variable] = cover;
      variables.push_back(variable);
    }
  }
  return variables;
}

protocol::PutReport StepCoverage::gather(const std::vector<int>& variables) {
  const protocol::PutReport mine{0, puts_.of(variables)};
  const auto message = protocol::encode(0, mine);
  std::string text(message.size(), '\0');
  std::memcpy(text.data(), message.data(), message.size());
  protocol::PutReport all;
  for (const auto& one : mpi::gather(comm_, 0, text, policy_, "the puts of a step")) {
    auto report = protocol::decode_put_report(
        protocol::body(std::as_bytes(std::span{one.data(), one.size()})));
    std::ranges::move(report.puts, std::back_inserter(all.puts));
  }
  return all;
}

Outcome StepCoverage::look_at(std::int64_t step, int variable, const protocol::PutReport& report) {
  std::vector<array::Part> parts;
  std::vector<int> ranks;
  for (const auto& put : report.puts) {
    if (put.variable == variable) {
      parts.push_back(put.part);
      ranks.push_back(put.rank);
    }
  }
  const auto of = catalogue_.variable(variable, step);
  auto found = array::coverage_of(of.shape, parts);
  if (const auto& overlap = found.overlap) {
    const auto whose = [&](std::size_t part) {
      return contents::whose_put(ranks[part], parts[part].region);
    };
    return contents::overlap(of, overlap->index, whose(overlap->one), whose(overlap->other));
  }
  gaps_[variable].holes = std::make_shared<const array::RunList>(std::move(found.holes));
  return {};
}

StepCoverage::Holes StepCoverage::examine(std::int64_t step) {
  std::vector<int> unsure;
  Holes holes;
  const auto note_holes = [&](int variable) {
    const auto& known = gaps_[variable].holes;
    const bool fills = !catalogue_.fill(variable, step).empty();
    if (known && known->size() > 0 && fills) {
      holes[variable] = known;
    }
  };
  for (const auto& [variable, cover] : all_) {
    const auto shape = catalogue_.variable(variable, step).shape;
    if (cover == array::cover_of_all(shape)) {
      continue;
    }
    const Gaps& known = gaps_[variable];
    if (known.cover == cover && known.shape == shape) {
      note_holes(variable);
    } else {
      unsure.push_back(variable);
    }
  }
  if (unsure.empty()) {
    return holes;
  }
  const auto report = gather(unsure);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  Outcome found;
  for (const int variable : unsure) {
    gaps_[variable] = {all_[variable], catalogue_.variable(variable, step).shape, nullptr};
    if (rank == 0 && found.ok()) {
      found = look_at(step, variable, report);
    }
  }
  const Outcome told = mpi::agree(comm_, found, policy_, "the puts of a step");
  if (!told.ok()) {
    for (const int variable : unsure) {
      gaps_.erase(variable);
    }
    throw Error{told.code, told.story};
  }
  std::ranges::for_each(unsure, note_holes);
  return holes;
}

}  // namespace iocomp::client
