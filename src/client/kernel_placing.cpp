#include "client/kernel_placing.h"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "client/agreement.h"
#include "mpi/error.h"

namespace iocomp::client {
namespace {

constexpr std::size_t numbers_per_place = 3;

}  // namespace

void KernelPlacing::begin(Agreement::Mine mine) { waiting_.push_back(std::move(mine)); }

bool KernelPlacing::advance(const std::function<void(const Round&)>& told) {
  bool moved = false;
  while (true) {
    if (stage_ == Stage::idle) {
      if (waiting_.empty()) {
        return moved;
      }
      round_ = {};
      round_.step = waiting_.front().call.step;
      agreement_ = std::make_unique<Agreement>(comm_, members_, std::move(waiting_.front()));
      waiting_.pop_front();
      stage_ = Stage::agreeing;
    }
    if (!advance_stage()) {
      return moved;
    }
    moved = true;
    if (stage_ == Stage::idle) {
      told(round_);
    }
  }
}

// First the outcome and the number of places, then the places: other ranks do not know how many.
bool KernelPlacing::advance_stage() {
  if (stage_ == Stage::agreeing) {
    if (!agreement_->advance()) {
      return false;
    }
    const auto agreed = std::exchange(agreement_, nullptr);
    round_.outcome = agreed->outcome();
    if (!round_.outcome.ok()) {
      stage_ = Stage::idle;  // all ranks know
      return true;
    }
    int rank = 0;
    mpi::check(MPI_Comm_rank(comm_, &rank));
    if (rank == 0) {
      round_ = place_(round_.step, agreed->flags());
    }
    auto head = pack_outcome(round_.outcome);
    head.push_back(static_cast<std::int64_t>(round_.places.size()));
    operation_.broadcast(comm_, 0, head);
    stage_ = Stage::count;
    return true;
  }
  if (!operation_.test()) {
    return false;
  }
  if (stage_ == Stage::count) {
    auto head = operation_.values();
    round_.places.resize(static_cast<std::size_t>(head.back()));
    head.pop_back();
    round_.outcome = unpack_outcome(head);
    std::vector<std::int64_t> numbers;
    for (const auto& place : round_.places) {
      numbers.insert(numbers.end(), {place.step, place.variable, place.offset});
    }
    operation_.broadcast(comm_, 0, numbers);
    stage_ = Stage::places;
    return true;
  }
  const auto& numbers = operation_.values();
  for (std::size_t i = 0; i < round_.places.size(); ++i) {
    const std::size_t first = i * numbers_per_place;
    round_.places[i] = {numbers[first], static_cast<int>(numbers[first + 1]), numbers[first + 2]};
  }
  stage_ = Stage::idle;
  return true;
}

}  // namespace iocomp::client
