#include "disk/thread_engine.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/futex.h"

namespace iocomp::disk {
namespace {

// Threads started meanwhile inherit the mask: the application's signals stay with its own threads,
// and a write beyond the limit of file sizes is an error to be told instead of a SIGXFSZ that ends
// the process.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

ThreadEngine::ThreadEngine(const Options& options) : options_{options} {
  const auto count = static_cast<std::size_t>(std::max(options_.threads, 1));
  const AllSignalsBlocked blocked;
  try {
    while (threads_.size() < count) {
      threads_.emplace_back([this] {
        pthread_setname_np(pthread_self(), "iocomp-disk");
        work();
      });
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

void ThreadEngine::wait(std::chrono::nanoseconds longest,
                        const std::optional<FutexWord>& /*word*/) {
  constexpr std::chrono::nanoseconds endless =
      std::chrono::hours{24};  // later ends overflow the clock
  std::unique_lock lock{mutex_};
  completed_.wait_for(lock, std::min(longest, endless), [this] { return !completions_.empty(); });
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
    completed_.notify_all();
  }
}

}  // namespace iocomp::disk
