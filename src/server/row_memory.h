// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "array/region.h"
#include "protocol/messages.h"
#include "server/served_file.h"
#include "staging/arena.h"
#include "writing/piece.h"

namespace iocomp::server {

/// A piece that a compute rank has announced. Not all of its bytes have been asked for.
struct QueuedPiece {
  std::vector<std::byte> message;
  protocol::Piece piece;  ///< refers to the message
  array::Region region;
  std::uint64_t file_key = 0;
  ServedFile* file = nullptr;
  std::shared_ptr<writing::Piece> begun;
  std::int64_t next = 0;  ///< elements of the piece asked for so far
};

/// Gives pieces that are neighbours in the file memory one behind the other, so that they are
/// written at once. For pieces that travel inside their headers.
class RowMemory {
 public:
  explicit RowMemory(staging::Arena& arena) noexcept : arena_{arena} {}

  /// Memory for the first piece of a queue, beside that of the piece before.
  /// @return nothing if the piece has no neighbours that are here already, or there is no room:
  /// then it gets memory of its own.
  [[nodiscard]] std::span<std::byte> place(const std::deque<QueuedPiece>& queue,
                                           writing::Chunk& chunk);
  /// The next piece belongs to another queue.
  void end() {
    lease_.reset();
    left_ = {};
  }

 private:
  staging::Arena& arena_;
  std::shared_ptr<const staging::Lease> lease_;
  std::span<std::byte> left_;
};

}  // namespace iocomp::server
