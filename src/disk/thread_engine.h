// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/futex.h"
#include "disk/engine.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace iocomp::disk {

/// Carries out plans with threads of its own. With several threads plans may end in any order.
class ThreadEngine : public Engine {
 public:
  /// @param why  why threads, when that was not asked for; see `name`.
  explicit ThreadEngine(const Options& options, std::string why = {});
  ~ThreadEngine() override;

  void submit(Plan plan) override;
  [[nodiscard]] std::vector<std::uint64_t> move(std::span<const std::byte> from,
                                                std::span<std::byte> to,
                                                std::size_t copied) override;
  [[nodiscard]] bool reads(std::span<const std::byte> memory) override;
  [[nodiscard]] Moved moved() const override { return moved_; }
  [[nodiscard]] std::vector<Completion> take_completed() override;
  void wait(std::chrono::nanoseconds longest,
            const std::optional<FutexWord>& word = std::nullopt) override;
  [[nodiscard]] std::size_t outstanding() const override;
  [[nodiscard]] std::string name() const override;

 private:
  // A plan on its way.
  struct Task {
    Plan plan;
    std::size_t next_write = 0;        // of the plan
    Remaining remaining;               // of the one before
    std::span<const std::byte> begun;  // is being written
    bool is_awaited = false;           // that it is not read any more
  };
  void work();
  void carry_out(Task& task);
  // Called with the lock held:
  void let_go(Task& task);
  void wake_owner();

  void wait_for_completion_or(const FutexWord& word, std::chrono::nanoseconds longest);

  Options options_;
  std::string why_;
  mutable std::mutex mutex_;
  std::condition_variable submitted_;
  std::condition_variable completed_;
  std::list<Task> queue_;  // guarded by mutex_, like the rest
  std::list<Task> running_;
  std::vector<Completion> completions_;
  std::size_t outstanding_ = 0;
  bool has_let_go_ = false;  // of memory that was moved
  bool stopping_ = false;
  Moved moved_;                         // the owner's
  std::atomic<std::uint32_t> news_{0};  // for who waits for a word as well
  std::vector<std::jthread> threads_;   // last: they use everything above
};

}  // namespace iocomp::disk
