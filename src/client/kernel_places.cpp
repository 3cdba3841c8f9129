// Blocks whose place in the file is not known yet, and how it becomes known.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "array/region.h"
#include "base/error.h"
#include "client/kernel_carrier.h"
#include "client/kernel_placing.h"
#include "client/link.h"
#include "client/tickets.h"
#include "commit/publication.h"
#include "contents/catalogue.h"
#include "formats/place.h"

namespace iocomp::client {

void KernelCarrier::keep(const Block& block) {
  auto& kept = steps_[block.step].kept;
  kept.push_back({block, nullptr});
  link_.tickets().find(block.ticket)->kept = true;
  if (block.buffered) {
    keep_copy(kept.back());
  }
}

void KernelCarrier::keep_copy(Kept& kept) {
  Block& block = kept.block;
  kept.copy = link_.copy_buffer(block.bytes());
  block.pack(0, array::elements(block.region), kept.copy.get());
  block.lies_packed(kept.copy.get());
  block.buffered = true;  // written from yet another copy where that must be aligned
  link_.tickets().find(block.ticket)->kept = false;
}

bool KernelCarrier::write_kept() {
  bool any = false;
  for (auto& [number, step] : steps_) {
    const auto is_given_up = [&] { return !lost_.ok() || !step.failure.ok(); };
    if (step.kept.empty() || (step.looked_at == placed_rounds_ && !is_given_up())) {
      continue;
    }
    step.looked_at = placed_rounds_;
    // Those that still wait go to the end, and stand as before when all were looked at.
    for (std::size_t left = step.kept.size(); left > 0 && !step.kept.empty(); --left) {
      const bool given_up = is_given_up();
      Kept next = std::move(step.kept.front());
      step.kept.pop_front();
      if (!given_up && !files_.knows_offset(next.block.variable.id, number)) {
        step.kept.push_back(std::move(next));
        continue;
      }
      any = true;
      if (Ticket* ticket = link_.tickets().find(next.block.ticket)) {
        ticket->kept = false;
      }
      if (given_up) {
        link_.fail(setup_.key, next.block.ticket, lost_.ok() ? step.failure : lost_);
      } else if (link_.tickets().find(next.block.ticket) != nullptr) {
        write(next.block);
      }
    }
  }
  return any;
}

void KernelCarrier::place_variables(std::int64_t step, const std::vector<std::int64_t>& flags,
                                    std::vector<KernelPlacing::Place>& places) {
  const std::int64_t target = publication_.target_of(step);
  if (files_.at(target).format() == nullptr) {
    create_target(target);
  }
  for (int variable = 0; variable < static_cast<int>(flags.size()); ++variable) {
    const bool is_put = flags[static_cast<std::size_t>(variable)] != 0;
    const bool is_reshaped = reshaped_.contains({step, variable});
    if (is_put && (is_reshaped || !placed_.contains({step, variable}))) {
      const std::int64_t offset =
          formats::place(*files_.at(target).format(), catalogue_, variable, step);
      placed_.emplace(step, variable);
      places.push_back({step, variable, offset});
    }
  }
}

// In steps that follow one another mostly the same variables are put: so the next step's places
// are told with this one's, and its blocks can go at once.
KernelPlacing::Round KernelCarrier::place(std::int64_t step,
                                          const std::vector<std::int64_t>& flags) {
  KernelPlacing::Round round{step, {}, {}};
  round.outcome = outcome_of([&] { place_variables(step, flags, round.places); });
  if (round.outcome.ok() && !per_step_) {
    auto next = flags;
    for (int variable = 0; variable < static_cast<int>(next.size()); ++variable) {
      if (reshaped_.contains({step + 1, variable})) {
        next[static_cast<std::size_t>(variable)] = 0;
      }
    }
    // Where this fails, it is that step's matter.
    (void)outcome_of([&] { place_variables(step + 1, next, round.places); });
  }
  return round;
}

void KernelCarrier::placed(const KernelPlacing::Round& round) {
  placed_until_ = round.step + 1;
  ++placed_rounds_;
  for (const auto& place : round.places) {
    if (place.step != round.step && reshaped_.contains({place.step, place.variable})) {
      continue;  // rank 0 did not know that yet
    }
    files_.note_offset(place.variable, place.step, place.offset);
  }
  if (round.outcome.code == ErrorCode::inconsistent_calls) {
    lose(round.outcome);
  } else if (!round.outcome.ok()) {
    const auto step = steps_.find(round.step);
    if (step != steps_.end() && step->second.failure.ok()) {
      step->second.failure = in_file(round.outcome, round.step);
    }
  }
}

}  // namespace iocomp::client
