#include "server/worker.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"

namespace iocomp::server {
namespace {

Outcome run(const Worker::Job& job) noexcept {
  try {
    job();
    return {};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, error.what()};
  }
}

}  // namespace

Worker::Worker(std::function<void()> completed)
    : tell_{std::move(completed)}, thread_{[this](const std::stop_token& stop) { work(stop); }} {}

Worker::~Worker() {
  thread_.request_stop();
  submitted_.notify_all();
}

void Worker::submit(std::uint64_t id, Job job) {
  {
    const std::scoped_lock lock{mutex_};
    queue_.emplace_back(id, std::move(job));
  }
  submitted_.notify_one();
}

std::vector<std::pair<std::uint64_t, Outcome>> Worker::take_completed() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(completed_, {});
}

void Worker::work(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (submitted_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    auto [id, job] = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    Outcome outcome = run(job);
    lock.lock();
    completed_.emplace_back(id, std::move(outcome));
    lock.unlock();
    tell_();
    lock.lock();
  }
}

}  // namespace iocomp::server
