// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/futex.h"

namespace iocomp::transport {

/// A lock in memory that processes share, for a few instructions at a time. A process that finds it
/// taken looks for a moment and then sleeps. All zero means free.
class SharedLock {
 public:
  /// Holds a lock until it is destroyed.
  class Guard {
   public:
    /// @param deadline_seconds  0: none.
    /// @throws Error{timed_out} when its holder does not go on.
    Guard(SharedLock& lock, double deadline_seconds) : lock_{lock} { lock_.take(deadline_seconds); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { lock_.release(); }

   private:
    SharedLock& lock_;
  };

 private:
  enum : std::uint32_t { free, taken, awaited };

  void take(double deadline_seconds) {
    constexpr int looks = 100;
    constexpr std::chrono::milliseconds longest{100};
    for (int look = 0; look < looks; ++look) {
      std::uint32_t seen = free;
      if (word_.compare_exchange_weak(seen, taken, std::memory_order_acquire)) {
        return;
      }
    }
    const double began = now_seconds();
    while (word_.exchange(awaited, std::memory_order_acquire) != free) {
      futex_wait({&word_, awaited}, longest);
      if (deadline_seconds > 0 && now_seconds() - began > deadline_seconds) {
        throw Error{ErrorCode::timed_out,
                    "another rank of this node has stopped while it changed what they share"};
      }
    }
  }
  void release() noexcept {
    if (word_.exchange(free, std::memory_order_release) == awaited) {
      futex_wake(word_);
    }
  }

  std::atomic<std::uint32_t> word_;
};

}  // namespace iocomp::transport
