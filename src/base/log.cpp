// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>

namespace iocomp::log {
namespace {

struct State {
  std::atomic<Level> level{Level::silent};
  std::mutex mutex;
  std::string who;  // guarded by mutex
};

State& state() {
  static State only;
  return only;
}

std::string_view level_name(Level level) noexcept {
  constexpr std::array<std::string_view, 5> names{"silent", "error", "warning", "info", "debug"};
  return names.at(static_cast<std::size_t>(level));
}

std::string local_time() {
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since_epoch = std::chrono::floor<milliseconds>(now.time_since_epoch());
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     since_epoch.count() % 1000);
}

}  // namespace

void configure(Level level, std::string_view who) {
  State& now = state();
  const std::scoped_lock lock{now.mutex};
  now.who = who;
  now.level = level;
}

bool enabled(Level level) noexcept {
  return level != Level::silent && level <= state().level.load(std::memory_order_relaxed);
}

void write(Level level, std::string_view text) {
  if (!enabled(level)) {
    return;
  }
  std::string line;
  {
    State& now = state();
    const std::scoped_lock lock{now.mutex};
    line = fmt::format("{} {} {}: {}\n", local_time(), level_name(level), now.who, text);
  }
  // If even stderr refuses, nobody is left to tell.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace iocomp::log
