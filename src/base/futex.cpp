// SPDX-License-Identifier: BSD-3-Clause
#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace iocomp {
namespace {

// Not the private form: the word may lie in memory shared between processes.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

constexpr std::int64_t second = 1'000'000'000;

// Later ends overflow the clock.
std::int64_t limited(std::chrono::nanoseconds longest) noexcept {
  constexpr std::chrono::nanoseconds endless = std::chrono::hours{24};
  return std::clamp(longest, std::chrono::nanoseconds{0}, endless).count();
}

}  // namespace

void futex_wait(const FutexWord& word, std::chrono::nanoseconds longest) noexcept {
  const std::int64_t nanoseconds = limited(longest);
  const timespec limit{.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
  syscall(SYS_futex, word.word, FUTEX_WAIT, word.seen, &limit, nullptr, 0);
}

bool futex_wait_either(const FutexWord& one, const FutexWord& other,
                       std::chrono::nanoseconds longest) noexcept {
  const auto waiter = [](const FutexWord& word) {
    futex_waitv entry{};
    entry.val = word.seen;
    entry.uaddr = reinterpret_cast<std::uintptr_t>(word.word);
    entry.flags = FUTEX_32;
    return entry;
  };
  std::array<futex_waitv, 2> waiters{waiter(one), waiter(other)};
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const std::int64_t nanoseconds = end.tv_nsec + limited(longest);
  end.tv_sec += nanoseconds / second;
  end.tv_nsec = nanoseconds % second;
  const long woken =
      syscall(SYS_futex_waitv, waiters.data(), waiters.size(), 0, &end, CLOCK_MONOTONIC);
  return woken != -1 || (errno != ENOSYS && errno != EPERM);
}

void futex_wake(std::atomic<std::uint32_t>& word, int sleepers) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

}  // namespace iocomp
