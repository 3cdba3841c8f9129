// SPDX-License-Identifier: BSD-3-Clause
#include "disk/paced_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/thread_engine.h"

namespace iocomp::disk {
namespace {

// The most by which a completion of a slowly written file may be noticed late.
constexpr std::chrono::milliseconds longest_nap{10};

Moved sum(const Moved& one, const Moved& other) {
  return {.bytes = one.bytes + other.bytes, .seconds = one.seconds + other.seconds};
}

}  // namespace

PacedEngine::PacedEngine(std::unique_ptr<Engine> engine, Options options)
    : options_{std::move(options)}, engine_{std::move(engine)} {
  options_.threads = 1;
}

// An fsync is for what is written already: it does not wait for what comes later.
void PacedEngine::submit(Plan plan) {
  const auto& pace = plan.file->pace();
  if (!pace || plan.writes.empty()) {
    engine_->submit(std::move(plan));
    return;
  }
  auto& paced = paced_[pace];
  if (!paced) {
    paced = std::make_unique<ThreadEngine>(options_);
  }
  paced->submit(std::move(plan));
}

std::vector<std::uint64_t> PacedEngine::move(std::span<const std::byte> from,
                                             std::span<std::byte> to) {
  auto plans = engine_->move(from, to);
  for (const auto& [pace, engine] : paced_) {
    std::ranges::copy(engine->move(from, to), std::back_inserter(plans));
  }
  return plans;
}

bool PacedEngine::reads(std::span<const std::byte> memory) {
  return engine_->reads(memory) || std::ranges::any_of(paced_, [&](const auto& paced) {
           return paced.second->reads(memory);
         });
}

Moved PacedEngine::moved() const {
  Moved all = sum(moved_, engine_->moved());
  for (const auto& [pace, engine] : paced_) {
    all = sum(all, engine->moved());
  }
  return all;
}

// If only this engine holds a pace, its file is closed.
std::vector<Completion> PacedEngine::take_completed() {
  auto completed = engine_->take_completed();
  for (const auto& [pace, engine] : paced_) {
    std::ranges::move(engine->take_completed(), std::back_inserter(completed));
  }
  std::erase_if(paced_, [this](const auto& paced) {
    const bool is_over = paced.first.use_count() == 1 && paced.second->outstanding() == 0;
    moved_ = is_over ? sum(moved_, paced.second->moved()) : moved_;
    return is_over;
  });
  return completed;
}

void PacedEngine::wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
  engine_->wait(
      paced_outstanding() > 0 ? std::min<std::chrono::nanoseconds>(longest, longest_nap) : longest,
      word);
}

std::size_t PacedEngine::paced_outstanding() const {
  std::size_t plans = 0;
  for (const auto& [pace, engine] : paced_) {
    plans += engine->outstanding();
  }
  return plans;
}

std::size_t PacedEngine::outstanding() const {
  return engine_->outstanding() + paced_outstanding();
}

}  // namespace iocomp::disk
