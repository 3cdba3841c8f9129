#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace iocomp {
namespace {

// Not the private form: the word may lie in memory shared between processes.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

}  // namespace

void futex_wait(const FutexWord& word, std::chrono::nanoseconds longest) noexcept {
  constexpr std::chrono::nanoseconds endless = std::chrono::hours{24};
  const auto nanoseconds = std::clamp(longest, std::chrono::nanoseconds{0}, endless).count();
  constexpr std::int64_t second = 1'000'000'000;
  const timespec limit{.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
  syscall(SYS_futex, word.word, FUTEX_WAIT, word.seen, &limit, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, int sleepers) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

}  // namespace iocomp
