// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/writer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options_of.h"
#include "hdf5/output.h"
#include "staging/arena.h"
#include "trace/counters.h"

namespace iocomp::hdf5 {
namespace {

// The disk begins with the first part of a long write while the next one is copied.
constexpr std::size_t usual_copy_bytes = std::size_t{32} << 20;
// A copy is longer than its bytes, by the places of its runs in their pages.
constexpr std::size_t least_copies = 4;

}  // namespace

Writer::Writer(const config::Settings& settings, trace::Counters& counters)
    : counters_{counters}, options_{disk::options_of(settings)} {
  const auto memory = static_cast<std::size_t>(settings.bytes("client.buffer_memory"));
  const std::size_t largest =
      memory / least_copies / staging::Arena::page_bytes * staging::Arena::page_bytes;
  if (largest == 0) {
    log::info("client.buffer_memory leaves no room for copies: HDF5 writes everything itself");
    return;
  }
  arena_.emplace(memory);
  largest_copy_bytes_ = std::min(largest, usual_copy_bytes);
  engine_ = disk::start_engine(options_);
}

void Writer::look() {
  if (!engine_) {
    return;
  }
  for (const disk::Completion& completion : engine_->take_completed()) {
    const auto copy = copies_.find(completion.id);
    copy->second.output->end(completion.id, {completion.code, completion.story});
    counters_.add(trace::Counter::write_seconds, completion.seconds);
    if (completion.code != ErrorCode::ok) {
      counters_.add(trace::Counter::failures, 1);
      log::error(completion.story);
    }
    copies_.erase(copy);
  }
}

void Writer::wait() {
  engine_->wait(std::chrono::seconds{1});
  look();
}

staging::Lease Writer::take(std::size_t bytes) {
  look();
  std::optional<staging::Lease> lease = arena_->try_take(bytes);
  if (!lease) {
    const trace::Timer timer{counters_, trace::Counter::buffer_wait_seconds};
    while (!(lease = arena_->try_take(bytes))) {
      wait();
    }
  }
  return *std::move(lease);
}

void Writer::submit(const std::shared_ptr<Output>& output, std::vector<disk::Write> writes,
                    staging::Lease copy) {
  while (output->overlaps(writes)) {
    wait();
  }
  const std::uint64_t plan = next_plan_++;
  output->begin(plan, writes);
  std::size_t bytes = 0;
  for (const disk::Write& write : writes) {
    bytes += write.bytes.size();
  }
  counters_.add(trace::Counter::put_bytes, static_cast<double>(bytes));
  copies_.emplace(plan, Copy{.output = output, .memory = std::move(copy)});
  engine_->submit({.id = plan, .file = output->file(), .writes = std::move(writes)});
  look();
}

void Writer::finish(const Output& output) {
  look();
  while (output.plans_under_way() > 0) {
    wait();
  }
}

void Writer::finish_all() {
  look();
  while (!copies_.empty()) {
    wait();
  }
}

}  // namespace iocomp::hdf5
