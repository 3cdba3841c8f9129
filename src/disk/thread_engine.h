#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
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
  explicit ThreadEngine(const Options& options);
  ~ThreadEngine() override;

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override;
  [[nodiscard]] std::string name() const override { return "threads"; }

 private:
  void work();

  Options options_;
  mutable std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::deque<Plan> queue_;  // guarded by mutex_, like the rest
  std::vector<Completion> completions_;
  std::size_t outstanding_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace iocomp::disk
