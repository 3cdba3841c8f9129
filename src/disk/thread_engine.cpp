// SPDX-License-Identifier: BSD-3-Clause
#include "disk/thread_engine.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"
#include "base/thread.h"
#include "disk/engine.h"
#include "disk/move.h"
#include "disk/options.h"
#include "disk/output_file.h"

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
  finish();
  {
    const std::scoped_lock lock{mutex_};
    stopping_ = true;
  }
  submitted_.notify_all();
}

void ThreadEngine::submit(Plan plan) {
  {
    const std::scoped_lock lock{mutex_};
    queue_.emplace_back().plan = std::move(plan);
    ++outstanding_;
  }
  submitted_.notify_one();
}

std::vector<std::uint64_t> ThreadEngine::move(std::span<const std::byte> from,
                                              std::span<std::byte> to, std::size_t copied) {
  const std::scoped_lock lock{mutex_};
  const Move move{from, to.data(), copied, moved_};
  std::vector<std::uint64_t> plans;
  for (auto* const tasks : {&queue_, &running_}) {
    for (Task& task : *tasks) {
      if (move.apply(task.remaining, std::span{task.plan.writes}.subspan(task.next_write))) {
        plans.push_back(task.plan.id);
      }
      task.is_awaited = task.is_awaited || overlap(task.begun, from);
    }
  }
  return plans;
}

bool ThreadEngine::reads(std::span<const std::byte> memory) {
  const std::scoped_lock lock{mutex_};
  const auto is_read = [&](const Task& task) {
    const auto later = std::span{task.plan.writes}.subspan(task.next_write);
    return overlap(task.begun, memory) || disk::reads(task.remaining, later, memory);
  };
  return std::ranges::any_of(queue_, is_read) || std::ranges::any_of(running_, is_read);
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
  completed_.wait_for(lock, std::min(longest, endless), [this] {
    return !completions_.empty() || std::exchange(has_let_go_, false);
  });
}

void ThreadEngine::wait_for_completion_or(const FutexWord& word, std::chrono::nanoseconds longest) {
  // If the kernel cannot wait for both words, look at the other one again and again.
  constexpr std::chrono::nanoseconds nap = std::chrono::milliseconds{1};
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!word.has_changed()) {
    const FutexWord completed{.word = &news_, .seen = news_};
    const std::chrono::nanoseconds left = end - std::chrono::steady_clock::now();
    {
      const std::scoped_lock lock{mutex_};
      if (!completions_.empty() || std::exchange(has_let_go_, false) ||
          left <= std::chrono::nanoseconds{0}) {
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
  if (options_.threads_run_anywhere) {
    run_anywhere();
  }
  std::unique_lock lock{mutex_};
  while (true) {
    submitted_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    running_.splice(running_.end(), queue_, queue_.begin());
    const auto task = std::prev(running_.end());
    lock.unlock();
    Completion completion = completion_of(task->plan.id, [&] { carry_out(*task); });
    lock.lock();
    std::list<Task> ended;
    ended.splice(ended.end(), running_, task);
    lock.unlock();
    ended.clear();  // who sees the completion can count on the file being let go of
    lock.lock();
    completions_.push_back(std::move(completion));
    wake_owner();
  }
}

// Takes one request at a time, because requests that are not begun may move meanwhile. A request
// that several threads share is begun as a whole.
void ThreadEngine::carry_out(Task& task) {
  OutputFile& file = *task.plan.file;
  std::unique_lock lock{mutex_};
  while (task.next_write < task.plan.writes.size()) {
    const Write write = task.plan.writes[task.next_write++];
    if (file.is_divided()) {
      task.begun = write.bytes;
      lock.unlock();
      file.write_by_all(write.offset, write.bytes);
      lock.lock();
      let_go(task);
      continue;
    }
    task.remaining = file.begin_write(write.offset, write.bytes);
    while (!task.remaining.bytes.empty()) {
      lock.unlock();
      file.wait_for_pace();
      lock.lock();
      const Request request = file.take_request(task.remaining, options_.request_bytes);
      task.begun = request.bytes;
      lock.unlock();
      const int error = file.perform(request);
      lock.lock();
      let_go(task);
      if (error != 0) {
        throw Error{ErrorCode::storage_failure,
                    file.write_story(write.offset, write.bytes.size(), error)};
      }
    }
  }
  lock.unlock();
  if (task.plan.sync) {
    file.sync();
  }
}

void ThreadEngine::let_go(Task& task) {
  task.begun = {};
  if (std::exchange(task.is_awaited, false)) {
    has_let_go_ = true;
    wake_owner();
  }
}

void ThreadEngine::wake_owner() {
  ++news_;
  futex_wake(news_);
  completed_.notify_all();
}

}  // namespace iocomp::disk
