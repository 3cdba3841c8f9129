// SPDX-License-Identifier: BSD-3-Clause
#include "disk/mixed_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "base/log.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/thread_engine.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t long_bytes = std::size_t{4} << 20;
// A request that is begun cannot be moved: it is as short as the disk takes at its full rate.
constexpr std::size_t thread_request_bytes = std::size_t{8} << 20;
// The most by which a completion may be noticed late while the engine and threads have work.
constexpr std::chrono::milliseconds longest_nap{1};

bool is_long(const Plan& plan) {
  std::size_t bytes = 0;
  for (const Write& write : plan.writes) {
    bytes += write.bytes.size();
  }
  return bytes >= long_bytes;
}

Moved sum(const Moved& one, const Moved& other) {
  return {.bytes = one.bytes + other.bytes, .seconds = one.seconds + other.seconds};
}

}  // namespace

MixedEngine::MixedEngine(std::unique_ptr<Engine> engine, Options options)
    : options_{std::move(options)}, engine_{std::move(engine)} {}

void MixedEngine::submit(Plan plan) {
  plan.meets_locks = threads_outstanding() > 0;
  engine_for(plan).submit(std::move(plan));
}

// An fsync is for what is written already: it does not wait for what comes later.
Engine& MixedEngine::engine_for(const Plan& plan) {
  const auto& pace = plan.file->pace();
  const bool is_slow = pace && !plan.writes.empty();
  const bool may_move =
      options_.gives_memory_back && habit_ != Habit::leaves_memory && is_long(plan);
  return is_slow || may_move ? thread_for(pace) : *engine_;
}

Engine& MixedEngine::thread_for(const std::shared_ptr<const Pace>& pace) {
  if (const auto found = threads_.find(pace); found != threads_.end()) {
    return *found->second;
  }
  Options options = options_;
  options.threads = pace ? 1 : static_cast<int>(options.workers);
  options.threads_run_anywhere = !pace;
  options.request_bytes = std::min(options.request_bytes, thread_request_bytes);
  try {
    return *threads_.emplace(pace, std::make_unique<ThreadEngine>(options)).first->second;
  } catch (const Error& error) {
    if (pace) {
      throw;
    }
    log::warning(std::string{error.what()} + "; the kernel writes long blocks then");
    options_.gives_memory_back = false;
    return *engine_;
  }
}

std::vector<std::uint64_t> MixedEngine::move(std::span<const std::byte> from,
                                             std::span<std::byte> to, std::size_t copied) {
  auto plans = engine_->move(from, to, copied);
  for (const auto& [pace, thread] : threads_) {
    std::ranges::copy(thread->move(from, to, copied), std::back_inserter(plans));
  }
  if (from.size() >= long_bytes && reads(from)) {
    habit_ = Habit::wants_memory;
  }
  return plans;
}

bool MixedEngine::reads(std::span<const std::byte> memory) {
  return engine_->reads(memory) || std::ranges::any_of(threads_, [&](const auto& thread) {
           return thread.second->reads(memory);
         });
}

Moved MixedEngine::moved() const {
  Moved all = sum(moved_, engine_->moved());
  for (const auto& [pace, thread] : threads_) {
    all = sum(all, thread->moved());
  }
  return all;
}

// If only this engine holds a pace, its file is closed.
std::vector<Completion> MixedEngine::take_completed() {
  auto completed = engine_->take_completed();
  for (const auto& [pace, thread] : threads_) {
    auto ended = thread->take_completed();
    if (!ended.empty() && !pace && habit_ == Habit::unknown) {
      habit_ = Habit::leaves_memory;
    }
    std::ranges::move(ended, std::back_inserter(completed));
  }
  std::erase_if(threads_, [this](const auto& thread) {
    const bool is_over = thread.first.use_count() == 1 && thread.second->outstanding() == 0;
    moved_ = is_over ? sum(moved_, thread.second->moved()) : moved_;
    return is_over;
  });
  return completed;
}

// Sleeps where work is; where several have some, with naps.
void MixedEngine::wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
  Engine* busy = engine_.get();
  bool is_only = true;
  for (const auto& [pace, thread] : threads_) {
    if (thread->outstanding() > 0) {
      is_only = busy == engine_.get() && engine_->outstanding() == 0;
      busy = thread.get();
    }
  }
  busy->wait(is_only ? longest : std::min<std::chrono::nanoseconds>(longest, longest_nap), word);
}

std::size_t MixedEngine::threads_outstanding() const {
  std::size_t plans = 0;
  for (const auto& [pace, thread] : threads_) {
    plans += thread->outstanding();
  }
  return plans;
}

std::size_t MixedEngine::outstanding() const {
  return engine_->outstanding() + threads_outstanding();
}

}  // namespace iocomp::disk
