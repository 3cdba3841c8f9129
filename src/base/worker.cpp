// SPDX-License-Identifier: BSD-3-Clause
#include "base/worker.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/thread.h"

namespace iocomp {

Worker::Worker(const std::string& name, int threads) {
  const auto count = static_cast<std::size_t>(std::max(threads, 1));
  try {
    while (threads_.size() < count) {
      threads_.push_back(start_thread(name, [this](const std::stop_token& stop) { work(stop); }));
    }
  } catch (const std::system_error& error) {
    if (threads_.empty()) {
      throw Error{ErrorCode::storage_failure,
                  std::string{"cannot start a writer thread: "} + error.what()};
    }
  }
}

Worker::~Worker() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  submitted_.notify_all();
}

void Worker::submit(Job job, Ended ended) {
  {
    const std::scoped_lock lock{mutex_};
    queue_.emplace_back(std::move(job), std::move(ended));
  }
  submitted_.notify_one();
}

Outcome Worker::run(const Job& job) {
  std::mutex mutex;
  std::condition_variable has_ended;
  std::optional<Outcome> outcome;  // guarded by mutex
  submit(job, [&](const Outcome& of_job) {
    const std::scoped_lock lock{mutex};
    outcome = of_job;
    has_ended.notify_one();
  });
  std::unique_lock lock{mutex};
  has_ended.wait(lock, [&] { return outcome.has_value(); });
  return std::move(*outcome);
}

Outcome Worker::outcome_of_job(const Job& job) noexcept {
  try {
    job();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, error.what()};
  }
}

void Worker::work(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (submitted_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    const auto [job, ended] = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    ended(outcome_of_job(job));
    lock.lock();
  }
}

}  // namespace iocomp
