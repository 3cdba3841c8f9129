// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/shared_memory/atomics.h"

namespace iocomp::transport {

/// The part of a ring that lies in the segment, beside its bytes. All zero is an empty ring.
template <typename A>
struct RingEnds {
  alignas(64) typename A::template Atomic<std::uint64_t> written;  ///< bytes, ever; by the producer
  alignas(64) typename A::template Atomic<std::uint64_t> read;     ///< bytes, ever; by the consumer
  /// The producer found no room, and wants to be told when there is some.
  alignas(64) typename A::template Atomic<std::uint32_t> starved;
};

/// A stream of bytes from one process to one other, through memory that both have mapped. Each side
/// has a ByteRing of its own over the same ends and bytes. It waits for nothing: the doorbell
/// (doorbell.h) wakes processes.
template <typename A>
class ByteRing {
 public:
  /// @param capacity_bytes  a power of two.
  ByteRing(RingEnds<A>& ends, typename A::Memory memory, std::size_t capacity_bytes)
      : ends_{&ends}, memory_{memory}, capacity_{capacity_bytes} {}

  /// Producer: append what fits. If that is not all, the consumer will ring (see `read`).
  /// @return bytes appended.
  std::size_t write(std::span<const std::byte> bytes) {
    std::size_t done = append(bytes);
    if (done < bytes.size()) {
      // Either the consumer sees this flag after it has made room, or the room is seen here.
      ends_->starved.store(1, std::memory_order_relaxed);
      A::fence();
      other_end_ = ends_->read.load(std::memory_order_acquire);
      done += append(bytes.subspan(done));
    }
    return done;
  }

  /// Consumer: take what is there, up to the size of `bytes`. @return bytes taken.
  std::size_t read(std::span<std::byte> bytes) {
    if (other_end_ - own_end_ < bytes.size()) {
      other_end_ = ends_->written.load(std::memory_order_acquire);
    }
    const auto count = std::min<std::size_t>(bytes.size(), other_end_ - own_end_);
    if (count == 0) {
      return 0;
    }
    const std::size_t at = own_end_ & (capacity_ - 1);
    const std::size_t first = std::min(count, capacity_ - at);
    A::copy_out(memory_, at, bytes.first(first));
    if (count > first) {
      A::copy_out(memory_, 0, bytes.subspan(first, count - first));
    }
    own_end_ += count;
    ends_->read.store(own_end_, std::memory_order_release);
    return count;
  }

  /// Consumer, after reading all it wanted: true if the producer waits for room and must be rung.
  [[nodiscard]] bool is_producer_starved() {
    A::fence();
    if (ends_->starved.load(std::memory_order_relaxed) == 0) {
      return false;
    }
    ends_->starved.store(0, std::memory_order_relaxed);
    return true;
  }

 private:
  std::size_t append(std::span<const std::byte> bytes) {
    if (capacity_ - (own_end_ - other_end_) < bytes.size()) {
      other_end_ = ends_->read.load(std::memory_order_acquire);
    }
    const auto count = std::min<std::size_t>(bytes.size(), capacity_ - (own_end_ - other_end_));
    if (count == 0) {
      return 0;
    }
    const std::size_t at = own_end_ & (capacity_ - 1);
    const std::size_t first = std::min(count, capacity_ - at);
    A::copy_in(memory_, at, bytes.first(first));
    if (count > first) {
      A::copy_in(memory_, 0, bytes.subspan(first, count - first));
    }
    own_end_ += count;
    ends_->written.store(own_end_, std::memory_order_release);
    return count;
  }

  RingEnds<A>* ends_;
  typename A::Memory memory_;
  std::size_t capacity_;
  std::uint64_t own_end_ = 0;    // the end that this side moves
  std::uint64_t other_end_ = 0;  // the other end, as last seen
};

}  // namespace iocomp::transport
