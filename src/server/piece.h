#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "array/box.h"
#include "base/error.h"
#include "staging/arena.h"
#include "storage/variable.h"

namespace iocomp::server {

/// A piece on its way through a server.
struct Piece {
  int client = -1;  ///< session rank
  std::uint64_t ticket = 0;
  std::int64_t step = 0;
  storage::Variable variable;
  array::Box box;
  std::int64_t elements_left = 0;  ///< not written yet
  Outcome failure;

  [[nodiscard]] std::int64_t element_bytes() const noexcept {
    return static_cast<std::int64_t>(array::size_bytes(variable.type));
  }
};

/// A part of a piece in staging memory: elements `first` to `first + count` of the packed order of
/// the box.
struct Chunk {
  std::shared_ptr<Piece> piece;
  std::int64_t first = 0;
  std::int64_t count = 0;
  staging::Lease lease;
  std::span<std::byte> bytes;  ///< inside the lease; empty when the chunk was only drained
};

}  // namespace iocomp::server
