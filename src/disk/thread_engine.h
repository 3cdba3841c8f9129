// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"

namespace iocomp::disk {

/// Carries out plans with threads of its own. With several threads plans may end in any order.
class ThreadEngine : public Engine {
 public:
  /// @param why  why threads, when that was not asked for; see `name`.
  explicit ThreadEngine(const Options& options, std::string why = {});
  ~ThreadEngine() override;

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override;
  [[nodiscard]] std::string name() const override;

 private:
  void work();

  void wait_for_completion_or(const FutexWord& word, std::chrono::nanoseconds longest);

  Options options_;
  std::string why_;
  mutable std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::deque<Plan> queue_;  // guarded by mutex_, like the rest
  std::vector<Completion> completions_;
  std::size_t outstanding_ = 0;
  bool stopping_ = false;
  std::atomic<std::uint32_t> completed_plans_{0};  // for who waits for a word as well
  std::vector<std::jthread> threads_;              // last: they use everything above
};

}  // namespace iocomp::disk
