// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace iocomp {

/// A word on which a process can sleep, and the value that it had when nothing had happened yet.
/// The word may lie in memory that several processes share.
struct FutexWord {
  std::atomic<std::uint32_t>* word = nullptr;
  std::uint32_t seen = 0;

  [[nodiscard]] bool has_changed() const noexcept {
    return word->load(std::memory_order_acquire) != seen;
  }
};

/// Sleep until the word has another value than `seen`, somebody wakes its sleepers, or `longest`
/// has passed. May return early for no reason: look again.
void futex_wait(const FutexWord& word, std::chrono::nanoseconds longest) noexcept;

/// The same with two words. False, at once, where the kernel cannot do that (Linux before 5.16).
[[nodiscard]] bool futex_wait_either(const FutexWord& one, const FutexWord& other,
                                     std::chrono::nanoseconds longest) noexcept;

/// Wake up to `sleepers` of those who sleep on the word. The caller has changed it before.
void futex_wake(std::atomic<std::uint32_t>& word, int sleepers = 1) noexcept;

}  // namespace iocomp
