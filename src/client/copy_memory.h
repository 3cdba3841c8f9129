#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <span>

#include "base/free_ranges.h"
#include "client/tickets.h"
#include "transport/transport.h"

namespace iocomp::client {

/// Memory for the copies that buffered puts and strided blocks make. Where the transport can lend
/// memory to receivers it comes from there, so that servers write straight from the copy; else it
/// is private. It is taken in slabs when it is needed first, and used again.
class CopyMemory {
 public:
  /// @param transport    may be nothing.
  /// @param limit_bytes  of all copies at once (the caller sees to that): slabs need not be larger.
  CopyMemory(transport::Transport* transport, std::size_t limit_bytes)
      : transport_{transport}, limit_bytes_{limit_bytes} {}

  /// @param page_remainder  of the first byte's address, so that a file can be written O_DIRECT.
  /// The copies must not outlive this object.
  [[nodiscard]] Copy take(std::size_t bytes, std::size_t page_remainder);

 private:
  struct Slab {
    std::span<std::byte> memory;
    FreeRanges free;
  };
  [[nodiscard]] Copy take_from(Slab& slab, std::size_t bytes, std::size_t page_remainder);
  [[nodiscard]] Slab* add_slab(std::size_t bytes);

  transport::Transport* transport_;
  std::size_t limit_bytes_;
  std::list<Slab> slabs_;
};

}  // namespace iocomp::client
