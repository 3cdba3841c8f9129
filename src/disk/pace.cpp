// SPDX-License-Identifier: BSD-3-Clause
#include "disk/pace.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

namespace iocomp::disk {
namespace {

constexpr std::int64_t whole_page = 4096;
constexpr double slices_per_second = 16;
constexpr double shortest_seconds = 1e-6;

}  // namespace

std::int64_t Pace::slice_bytes() const noexcept {
  constexpr double most = 1 << 30;
  const auto bytes =
      static_cast<std::int64_t>(std::min(bytes_per_second_ / slices_per_second, most));
  return std::max(whole_page, bytes / whole_page * whole_page);
}

double Pace::seconds_left() const {
  const std::scoped_lock lock{mutex_};
  return next_ - now_();
}

void Pace::wait() const {
  for (double left = seconds_left(); left > 0; left = seconds_left()) {
    // A shorter sleep than the clock can tell would be none at all.
    std::this_thread::sleep_for(std::chrono::duration<double>{std::max(left, shortest_seconds)});
  }
}

void Pace::wrote(std::int64_t bytes) {
  const std::scoped_lock lock{mutex_};
  next_ = std::max(next_, now_() - slack_seconds) + static_cast<double>(bytes) / bytes_per_second_;
}

}  // namespace iocomp::disk
