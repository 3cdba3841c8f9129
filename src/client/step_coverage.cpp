#include "client/step_coverage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "array/cover.h"
#include "array/region.h"
#include "base/error.h"
#include "client/carrier.h"
#include "contents/catalogue.h"
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

steps::Holes StepCoverage::examine(std::int64_t step) {
  auto look = coverage_.look(step, all_);
  if (look.unsure.empty()) {
    return look.holes;
  }
  const auto report = gather(look.unsure);
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  auto questions = coverage_.ask(step, look.unsure, all_, report.puts);
  Outcome found;
  if (rank == 0) {
    std::ranges::for_each(questions, steps::answer);
    found = coverage_.learn(step, questions, look.holes);
  }
  const Outcome told = mpi::agree(comm_, found, policy_, "the puts of a step");
  if (!told.ok()) {
    throw Error{told.code, told.story};
  }
  if (rank != 0) {  // that rank 0 knows now
    (void)coverage_.learn(step, questions, look.holes);
  }
  return look.holes;
}

}  // namespace iocomp::client
