// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "transport/shared_memory/atomics.h"
#include "transport/shared_memory/byte_ring.h"
#include "transport/shared_memory/records.h"

namespace iocomp::transport {

/// Takes the records of a peer.
class RecordSink {
 public:
  RecordSink() = default;
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;
  virtual ~RecordSink() = default;
  /// A record has arrived. `bytes` is empty for `copy`, whose bytes lie in `copy_target`.
  virtual void take(RecordKind kind, std::vector<std::byte> bytes) = 0;
  /// The memory for the bytes of the next `copy`.
  virtual std::span<std::byte> copy_target(std::size_t bytes) = 0;
};

/// Both rings between this process and one peer. Records that do not fit into the ring wait in this
/// process until `push` finds room.
class Channel {
 public:
  using Ring = ByteRing<Atomics>;
  Channel(Ring out, Ring in) : out_{out}, in_{in} {}

  /// Write a record of `fixed` (a plain struct) and `rest` into the ring; what does not fit follows
  /// later. The receiver is not told before the next `push`.
  template <typename Fixed>
  void send(RecordKind kind, const Fixed& fixed, std::vector<std::byte> rest = {}) {
    send(kind, std::as_bytes(std::span{&fixed, 1}), std::move(rest));
  }
  void send(RecordKind kind, std::span<const std::byte> fixed, std::vector<std::byte> rest);
  /// Queue a `copy` of bytes that stay where they are until the receiver has them.
  void send_copy(std::span<const std::byte> bytes);
  /// Write what fits into the ring. @return true if anything was written since the last call.
  bool push();
  [[nodiscard]] bool has_pushed_all() const noexcept { return queue_.empty(); }

  /// Read all that is there. @return true if the peer waits for room and must be rung.
  bool pull(RecordSink& sink);

 private:
  struct Frame {
    std::vector<std::byte> owned;
    std::span<const std::byte> left;  // in `owned`, or in memory that outlives the frame
  };
  std::size_t write(std::span<const std::byte> bytes);
  void queue(std::vector<std::byte> bytes);
  bool read_head(RecordSink& sink);

  Ring out_;
  Ring in_;
  std::deque<Frame> queue_;
  bool has_written_ = false;  // since the last push
  RecordHead head_;           // of the record that is arriving
  std::size_t head_have_ = 0;
  std::vector<std::byte> body_;
  std::span<std::byte> missing_;  // of the body, or of the target of a copy
};

}  // namespace iocomp::transport
