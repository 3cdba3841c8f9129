// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <utility>

#include "base/free_ranges.h"
#include "base/huge_memory.h"
#include "client/tickets.h"
#include "transport/transport.h"

namespace iocomp::client {

/// Memory for everything that this rank copies, under one bound (client.buffer_memory). If the
/// transport can lend memory to receivers, copies lie there, so that servers write straight from
/// them. Otherwise the memory is private. It is taken in slabs when it is first needed, and used
/// again.
class CopyMemory {
 public:
  /// @param transport  may be null.
  CopyMemory(transport::Transport* transport, std::size_t limit_bytes)
      : transport_{transport}, limit_bytes_{limit_bytes} {}
  CopyMemory(const CopyMemory&) = delete;
  CopyMemory& operator=(const CopyMemory&) = delete;

  [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return used_bytes_ + (stripe_bytes_ ? stripe_bytes_() : 0);
  }
  /// Count also the memory of stripes that this rank has made.
  void count_stripes(std::function<std::size_t()> bytes) { stripe_bytes_ = std::move(bytes); }
  /// True if there is room for so many bytes of stripes, which then are in use.
  [[nodiscard]] bool lets_stripes_have(std::size_t bytes) noexcept;
  /// The most that was ever used at once.
  [[nodiscard]] std::size_t peak_bytes() const noexcept { return peak_bytes_; }
  /// True if a copy of this size can be had now.
  [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
    return bytes <= limit_bytes_ && used_bytes() <= limit_bytes_ - bytes;
  }

  /// The number of copies that the disk engine still reads.
  [[nodiscard]] std::size_t copies_for_disk() const noexcept { return copies_for_disk_; }

  /// Memory that counts until the copy is gone. The caller has looked for room, or knows that a
  /// wait for it would not end. The copies must not outlive this object.
  /// @param page_remainder  of the first byte's address, so that a file can be written O_DIRECT.
  /// @throws Error{out_of_staging_memory} if there can never be room for so much.
  [[nodiscard]] Copy take(std::size_t bytes, std::size_t page_remainder);
  /// The same for a copy that is needed only until the disk has it; nothing if there is no room
  /// now. One such copy can always be had, because writing it may be the only way to get room.
  [[nodiscard]] Copy try_take_for_disk(std::size_t bytes, std::size_t page_remainder);
  /// Treat a copy that was taken like one of these. Null gives null.
  [[nodiscard]] Copy needed_for_disk(Copy copy);

 private:
  struct Slab {
    HugeMemory own;  // nothing for memory of the transport
    std::span<std::byte> memory;
    FreeRanges free;
  };
  void check(std::size_t bytes) const;
  void use(std::size_t bytes) noexcept;
  [[nodiscard]] Copy find(std::size_t bytes, std::size_t page_remainder, bool is_lent);
  [[nodiscard]] Copy take_small(std::size_t bytes);
  [[nodiscard]] Copy take_from(Slab& slab, std::size_t bytes, std::size_t page_remainder);
  [[nodiscard]] Slab* add_slab(std::size_t bytes, bool is_lent);

  transport::Transport* transport_;
  std::size_t limit_bytes_;
  std::size_t used_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
  std::size_t copies_for_disk_ = 0;
  std::function<std::size_t()> stripe_bytes_;
  std::list<Slab> slabs_;
};

}  // namespace iocomp::client
