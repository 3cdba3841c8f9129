// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/futex.h"

namespace iocomp::transport {

/// The operations that rings and doorbells are made of. They are templates over this, so that the
/// model checker (tests/unit/transport) can put in its own and try every order of events.
struct Atomics {
  template <typename Value>
  using Atomic = std::atomic<Value>;
  using Memory = std::byte*;

  static void copy_in(Memory memory, std::size_t at, std::span<const std::byte> from) noexcept {
    std::memcpy(memory + at, from.data(), from.size());
  }
  static void copy_out(Memory memory, std::size_t at, std::span<std::byte> to) noexcept {
    std::memcpy(to.data(), memory + at, to.size());
  }

  /// Others see all earlier stores before this thread loads anything later.
  static void fence() noexcept {
#if defined(__SANITIZE_THREAD__)
    // The sanitizer knows no fences. An exchange of a variable of this thread orders as much for
    // the processor, and shows the sanitizer no order between threads.
    thread_local std::atomic<int> own{0};
    own.exchange(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

  static void wake(std::atomic<std::uint32_t>& word) noexcept { futex_wake(word); }
};

}  // namespace iocomp::transport
