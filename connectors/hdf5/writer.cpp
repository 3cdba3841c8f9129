// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/writer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "config/settings.h"
#include "disk/engine.h"
#include "disk/options_of.h"
#include "hdf5/event.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "hdf5/packer.h"
#include "staging/arena.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::hdf5 {
namespace {

// The disk begins with the first part of a long write while the next one is copied.
constexpr std::size_t usual_copy_bytes = std::size_t{32} << 20;
// A copy is longer than its bytes, by the places of its runs in their pages.
constexpr std::size_t least_copies = 4;

}  // namespace

Writer::Writer(const config::Settings& settings, trace::Counters& counters)
    : counters_{counters}, options_{disk::options_of(settings)}, packer_{counters} {
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
    const auto plan = plans_.find(completion.id);
    const Outcome outcome{completion.code, completion.story};
    plan->second.output->end(completion.id, outcome);
    if (plan->second.event) {
      plan->second.event->plan_ends(outcome);
    }
    counters_.add(trace::Counter::write_seconds, completion.seconds);
    trace::record(counters_.timeline(), trace::What::write, plan->second.begin,
                  {.file = plan->second.output->name(), .bytes = plan->second.bytes});
    if (completion.code != ErrorCode::ok) {
      counters_.add(trace::Counter::failures, 1);
      log::error(completion.story);
    }
    plans_.erase(plan);
  }
  packer_.hand_over();
}

void Writer::wait(std::chrono::nanoseconds longest) {
  if (packer_.is_empty()) {
    engine_->wait(longest);
  } else {
    constexpr std::chrono::nanoseconds short_while = std::chrono::milliseconds{5};
    packer_.wait(plans_.empty() ? longest : std::min(longest, short_while));
  }
  look();
}

template <typename Done>
void Writer::wait_until(const char* what, Done done) {
  if (done()) {
    return;
  }
  const trace::Span span{counters_.timeline(), trace::What::wait, {.text = what}};
  do {
    wait();
  } while (!done());
}

void Writer::wait_for(const Event& event, std::chrono::nanoseconds longest) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  look();
  for (auto passed = Clock::duration{}; !event.is_done() && passed < longest;
       passed = Clock::now() - begin) {
    wait(std::min<std::chrono::nanoseconds>(longest - passed, std::chrono::seconds{1}));
  }
}

staging::Lease Writer::take(std::size_t bytes) {
  look();
  std::optional<staging::Lease> lease = arena_->try_take(bytes);
  if (!lease) {
    const trace::Timer timer{counters_, trace::Counter::buffer_wait_seconds};
    wait_until("memory for a copy", [&] { return (lease = arena_->try_take(bytes)).has_value(); });
  }
  return *std::move(lease);
}

void Writer::submit(const std::shared_ptr<Output>& output, std::vector<disk::Write> writes,
                    staging::Lease copy, std::shared_ptr<Event> event) {
  wait_until("older writes of the same bytes", [&] { return !output->overlaps(writes); });
  const std::uint64_t plan = next_plan_++;
  output->begin(plan, writes);
  std::int64_t bytes = 0;
  for (const disk::Write& write : writes) {
    bytes += std::ssize(write.bytes);
  }
  counters_.add(trace::Counter::put_bytes, static_cast<double>(bytes));
  counters_.add(copy.bytes().empty() ? trace::Counter::lent_bytes : trace::Counter::copied_bytes,
                static_cast<double>(bytes));
  if (event) {
    event->plan_begins();
  }
  plans_.emplace(plan, Plan{.output = output,
                            .copy = std::move(copy),
                            .event = std::move(event),
                            .begin = now_seconds(),
                            .bytes = bytes});
  engine_->submit({.id = plan, .file = output->file(), .writes = std::move(writes)});
  look();
}

void Writer::pack(Packer::Chunk chunk) {
  chunk.plan = next_plan_++;
  const auto bytes = static_cast<double>(chunk.values.size());
  counters_.add(trace::Counter::put_bytes, bytes);
  counters_.add(trace::Counter::copied_bytes, bytes);
  packer_.begin(std::move(chunk));
  look();
}

void Writer::finish(const Output& output, const native::Token& dataset) {
  look();
  wait_until("the chunks of a dataset", [&] { return !packer_.holds(output, dataset); });
}

void Writer::finish(const Output& output) {
  look();
  wait_until("the writes of a file", [&] { return output.plans_under_way() == 0; });
}

void Writer::finish_all() {
  look();
  wait_until("all writes", [&] { return plans_.empty() && packer_.is_empty(); });
}

}  // namespace iocomp::hdf5
