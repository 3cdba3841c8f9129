// SPDX-License-Identifier: BSD-3-Clause
#include "client/local/early_copies.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>

#include "base/log.h"
#include "base/thread.h"

namespace iocomp::client {
namespace {

// Copied at once: whoever calls `end` waits for no more than that.
constexpr std::size_t part_bytes = std::size_t{1} << 20;

}  // namespace

void EarlyCopies::begin(std::span<const std::byte> from, std::byte* to) {
  if (has_no_thread_) {
    return;
  }
  if (!thread_.joinable()) {
    try {
      thread_ = start_thread("iocomp-copy", [this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error& error) {
      has_no_thread_ = true;
      log::info(std::string{"no thread copies arrays ahead: "} + error.what());
      return;
    }
  }
  const std::scoped_lock lock{mutex_};
  all_.push_back({.from = from, .to = to});
  begun_.notify_one();
}

std::size_t EarlyCopies::end(const std::byte* to) {
  std::unique_lock lock{mutex_};
  const auto found = std::ranges::find(all_, to, &Copying::to);
  if (found == all_.end()) {
    return 0;
  }
  found->is_ended = true;
  part_ended_.wait(lock, [&] { return !found->is_busy; });
  const std::size_t done = found->done_bytes;
  all_.erase(found);
  return done;
}

EarlyCopies::Copyings::iterator EarlyCopies::next() {
  return std::ranges::find_if(all_, [](const Copying& copying) {
    return !copying.is_ended && copying.done_bytes < copying.from.size();
  });
}

void EarlyCopies::work(const std::stop_token& stop) {
  take_idle_time();
  std::unique_lock lock{mutex_};
  while (begun_.wait(lock, stop, [this] { return next() != all_.end(); })) {
    Copying& copying = *next();
    const auto left = copying.from.subspan(copying.done_bytes);
    const auto part = left.first(std::min(left.size(), part_bytes));
    copying.is_busy = true;
    lock.unlock();
    std::ranges::copy(part, copying.to + copying.done_bytes);
    lock.lock();
    copying.done_bytes += part.size();
    copying.is_busy = false;
    part_ended_.notify_one();
  }
}

}  // namespace iocomp::client
