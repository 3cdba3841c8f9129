// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/packer.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "compress/bench.h"
#include "hdf5/event.h"
#include "hdf5/native.h"
#include "hdf5/output.h"
#include "trace/counters.h"
#include "trace/event.h"
#include "trace/span.h"

namespace iocomp::hdf5 {
namespace {

constexpr int threads = 4;  // they take idle time alone, so more of them than cores do no harm

}  // namespace

bool Packer::has_threads() {
  if (!worker_ && !has_no_threads_) {
    const Outcome started = outcome_of([this] { worker_.emplace("iocomp-filter", threads); });
    has_no_threads_ = !started.ok();
    if (has_no_threads_) {
      log::info("filters are left to HDF5: " + started.story);
    }
  }
  return !has_no_threads_;
}

void Packer::begin(Chunk chunk) {
  chunk.dataset->output()->begin(chunk.plan, {});
  if (chunk.event) {
    chunk.event->plan_begins();
  }
  chunks_.push_back(std::make_unique<Packed>(Packed{.chunk = std::move(chunk)}));
  Packed& packed = *chunks_.back();
  worker_->submit([this, &packed] { pack(packed); },
                  [this, &packed](const Outcome& outcome) {
                    const std::scoped_lock lock{mutex_};
                    packed.outcome = outcome;
                    ended_.notify_one();
                  });
}

// The filtered bytes take the place of the values, so that the memory in use is within its bound.
void Packer::pack(Packed& packed) {
  thread_local const bool is_idle = (take_idle_time(), true);
  static_cast<void>(is_idle);
  const double begin = now_seconds();
  auto bench = benches_.take();
  auto room = rooms_.take();
  const auto values = packed.chunk.values;
  packed.chunk.filters->apply(values, *bench, *room);
  if (room->size() <= values.size()) {
    std::ranges::copy(*room, values.begin());
    packed.bytes = values.first(room->size());
  } else {
    packed.longer = *room;
    packed.bytes = packed.longer;
  }
  benches_.give_back(std::move(bench));
  rooms_.give_back(std::move(room));
  packed.seconds = now_seconds() - begin;
}

bool Packer::holds(const Output& output, const native::Token& token) const {
  return std::ranges::any_of(chunks_, [&](const auto& packed) {
    return packed->chunk.dataset->output().get() == &output &&
           packed->chunk.dataset->token() == token;
  });
}

void Packer::wait(std::chrono::nanoseconds longest) {
  std::unique_lock lock{mutex_};
  ended_.wait_for(lock, longest, [this] { return chunks_.front()->outcome.has_value(); });
}

void Packer::hand_over() {
  while (!chunks_.empty()) {
    Packed& packed = *chunks_.front();
    {
      const std::scoped_lock lock{mutex_};
      if (!packed.outcome) {
        return;
      }
    }
    const Chunk& chunk = packed.chunk;
    Output& output = *chunk.dataset->output();
    Outcome outcome = *packed.outcome;
    if (outcome.ok()) {
      const trace::Timer timer{
          counters_, trace::Counter::write_seconds, trace::What::write, {.file = output.name()}};
      outcome = native::write_chunk(chunk.dataset->native(), chunk.first.data(), packed.bytes);
      counters_.add(trace::Counter::compress_seconds, packed.seconds);
      counters_.add(trace::Counter::raw_bytes, static_cast<double>(chunk.values.size()));
      counters_.add(trace::Counter::compressed_bytes, static_cast<double>(packed.bytes.size()));
    }
    if (!outcome.ok()) {
      outcome.story = output.path() + ": a chunk: " + outcome.story;
      counters_.add(trace::Counter::failures, 1);
      log::error(outcome.story);
    }
    output.end(chunk.plan, outcome);
    if (chunk.event) {
      chunk.event->plan_ends(outcome);
    }
    chunks_.pop_front();
  }
}

}  // namespace iocomp::hdf5
