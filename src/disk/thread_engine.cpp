// SPDX-License-Identifier: BSD-3-Clause
#include "disk/thread_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"

namespace iocomp::disk {
ThreadEngine::ThreadEngine(const Options& options, std::string why)
    : options_{options}, why_{std::move(why)} {
  const auto count = static_cast<std::size_t>(std::max(options_.threads, 1));
  try {
    while (threads_.size() < count) {
      threads_.push_back(
          start_thread("iocomp-disk", [this](const std::stop_token& /*stop*/) { work(); }));
    }
  } catch (const std::system_error& error) {
    if (threads_.empty()) {
      throw Error{ErrorCode::storage_failure,
                  std::string{"cannot start a writer thread: "} + error.what()};
    }
    // Fewer threads than wished for do the same work.
  }
}

ThreadEngine::~ThreadEngine() {
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  submitted_.notify_all();
}

void ThreadEngine::submit(Plan plan) {
  {
    const std::scoped_lock lock{mutex_};
    queue_.push_back(std::move(plan));
    ++outstanding_;
  }
  submitted_.notify_one();
}

std::vector<Completion> ThreadEngine::take_completed() {
  const std::scoped_lock lock{mutex_};
  outstanding_ -= completions_.size();
  return std::exchange(completions_, {});
}

void ThreadEngine::wait(std::chrono::nanoseconds longest, const std::optional<FutexWord>& word) {
  constexpr std::chrono::nanoseconds endless =
      std::chrono::hours{24};  // later ends overflow the clock
  if (word) {
    wait_for_completion_or(*word, std::min(longest, endless));
    return;
  }
  std::unique_lock lock{mutex_};
  completed_.wait_for(lock, std::min(longest, endless), [this] { return !completions_.empty(); });
}

void ThreadEngine::wait_for_completion_or(const FutexWord& word, std::chrono::nanoseconds longest) {
  // Where the kernel cannot wait for both words, look at the other one again and again.
  constexpr std::chrono::nanoseconds nap = std::chrono::milliseconds{1};
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!word.has_changed()) {
    const FutexWord completed{.word = &completed_plans_, .seen = completed_plans_};
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    {
      const std::scoped_lock lock{mutex_};
      if (!completions_.empty() || left <= std::chrono::nanoseconds{0}) {
        return;
      }
    }
    if (!futex_wait_either(completed, word, left)) {
      futex_wait(completed, std::min(left, nap));
    }
  }
}

std::string ThreadEngine::name() const {
  return why_.empty() ? "threads" : "threads (" + why_ + ")";
}

std::size_t ThreadEngine::outstanding() const {
  const std::scoped_lock lock{mutex_};
  return outstanding_;
}

void ThreadEngine::work() {
  std::unique_lock lock{mutex_};
  while (true) {
    submitted_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    Completion completion;
    {
      const Plan plan = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      completion = carry_out(plan);
    }  // who sees the completion can count on the plan, and its hold on the file, being gone
    lock.lock();
    completions_.push_back(std::move(completion));
    ++completed_plans_;
    futex_wake(completed_plans_);
    completed_.notify_all();
  }
}

}  // namespace iocomp::disk
