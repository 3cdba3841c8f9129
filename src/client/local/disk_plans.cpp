// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/disk_plans.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "client/tickets.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "trace/counters.h"
#include "writing/submit.h"

namespace iocomp::client {

DiskPlans::DiskPlans(const disk::Options& disk, trace::Counters& counters)
    : counters_{counters}, engine_{disk::start_engine(disk)} {}

writing::Submit DiskPlans::submitter() {
  return [this](disk::Plan plan, auto done) {
    plan.id = next_++;
    underway_.emplace(plan.id, Underway{std::move(done), plan.sync});
    engine_->submit(std::move(plan));
  };
}

void DiskPlans::copy_early(std::span<const std::byte> from, Copy to) {
  copier_.begin(from, to.get());
  early_.push_back({from, std::move(to)});
}

bool DiskPlans::move(std::span<const std::byte> from, const std::function<Copy()>& take) {
  const auto early = std::ranges::find_if(early_, [&](const Early& each) {
    return each.from.data() == from.data() && each.from.size() == from.size();
  });
  const bool is_begun = early != early_.end();
  const Copy to = is_begun ? early->to : take();
  if (!to) {
    return false;
  }
  std::size_t copied = 0;
  if (is_begun) {
    copied = copier_.end(to.get());
    early_.erase(early);
  }
  const auto plans = engine_->move(from, {to.get(), from.size()}, copied);
  for (const std::uint64_t plan : plans) {
    underway_.at(plan).copies.push_back(to);
  }
  return !plans.empty();
}

// Memory that no plan reads any more will not be wanted back, and the program may change it.
void DiskPlans::end_early_copies() {
  std::erase_if(early_, [this](const Early& early) {
    const bool is_over = !engine_->reads(early.from);
    if (is_over) {
      (void)copier_.end(early.to.get());
    }
    return is_over;
  });
}

bool DiskPlans::advance() {
  const auto completed = engine_->take_completed();
  if (!completed.empty()) {
    end_early_copies();
  }
  for (const auto& completion : completed) {
    const auto node = underway_.extract(completion.id);
    const Underway& ended = node.mapped();
    counters_.add(ended.is_sync ? trace::Counter::sync_seconds : trace::Counter::write_seconds,
                  completion.seconds);
    ended.done(completion);
  }
  return !completed.empty();
}

}  // namespace iocomp::client
