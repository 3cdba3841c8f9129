// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/shared_memory/atomics.h"

namespace iocomp::transport {

/// The part of a doorbell that lies in the segment. All zero: awake, nothing has come.
template <typename A>
struct BellState {
  alignas(64) typename A::template Atomic<std::uint32_t> sequence;  ///< the word to sleep on
  typename A::template Atomic<std::uint32_t> sleeping;
};
template <typename A>
using BellBits = typename A::template Atomic<std::uint64_t>;

/// Tells a process which others have something for it, and wakes it if it sleeps: an event count. A
/// sender publishes in a ring, sets its bit here, and only then looks whether the other sleeps. A
/// process that goes to sleep says so first, and only then looks for bits once more. With a fence
/// between each side's store and its look, at least one of them sees the other's.
template <typename A>
class Doorbell {
 public:
  static constexpr std::size_t peers_per_word = 64;

  /// @param bits  a word per 64 peers.
  Doorbell(BellState<A>& state, std::span<BellBits<A>> bits) : state_{&state}, bits_{bits} {}

  /// Any other process: I have something for you. @return true if a wake-up was needed.
  bool ring(std::size_t sender) {
    const std::uint64_t bit = std::uint64_t{1} << (sender % peers_per_word);
    bits_[sender / peers_per_word].fetch_or(bit, std::memory_order_release);
    return rouse();
  }

  /// Wake the owner if it sleeps; any process or thread may call it. If several do, one wakes it.
  bool rouse() {
    A::fence();
    if (state_->sleeping.load(std::memory_order_relaxed) == 0 ||
        state_->sleeping.exchange(0, std::memory_order_relaxed) == 0) {
      return false;
    }
    state_->sequence.fetch_add(1, std::memory_order_release);
    A::wake(state_->sequence);
    return true;
  }

  // Calls of the owner:
  /// True if somebody has rung.
  [[nodiscard]] bool has_rung() const {
    for (auto& word : bits_) {
      if (word.load(std::memory_order_relaxed) != 0) {
        return true;
      }
    }
    return false;
  }
  /// Take the bits of word `word`: the peers that have rung since the last call.
  [[nodiscard]] std::uint64_t take(std::size_t word) {
    return bits_[word].load(std::memory_order_relaxed) == 0
               ? 0
               : bits_[word].exchange(0, std::memory_order_acquire);
  }
  [[nodiscard]] std::size_t words() const { return bits_.size(); }

  /// From here on a ring wakes this process. Look once more before sleeping on `word()`.
  /// @return the word before: sleep only while it has not changed.
  [[nodiscard]] std::uint32_t watch() {
    const std::uint32_t seen = state_->sequence.load(std::memory_order_acquire);
    state_->sleeping.store(1, std::memory_order_relaxed);
    A::fence();
    return seen;
  }
  void unwatch() { state_->sleeping.store(0, std::memory_order_relaxed); }
  [[nodiscard]] auto& word() { return state_->sequence; }
  [[nodiscard]] const auto& first_bits() const { return bits_.front(); }

 private:
  BellState<A>* state_;
  std::span<BellBits<A>> bits_;
};

}  // namespace iocomp::transport
