// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/disk_plans.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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

bool DiskPlans::move(std::span<const std::byte> from, const Copy& to, std::size_t copied) {
  const auto plans = engine_->move(from, {to.get(), from.size()}, copied);
  for (const std::uint64_t plan : plans) {
    underway_.at(plan).copies.push_back(to);
  }
  return !plans.empty();
}

bool DiskPlans::advance() {
  const auto completed = engine_->take_completed();
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
