// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "array/pieces.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"

namespace iocomp::client {

/// Copies blocks that travel to servers: it decides which, and how.
class BlockCopies {
 public:
  struct Limits {
    std::size_t inline_bytes = 0;  ///< blocks up to this size travel in their header
    std::size_t copy_bytes = 0;    ///< blocks up to this size are copied, if there is room
    bool pulls = false;            ///< servers read all they can where it lies
  };
  BlockCopies(const Limits& limits, Link& link) : limits_{limits}, link_{link} {}

  [[nodiscard]] bool travels_in_header(std::size_t bytes) const noexcept {
    return bytes <= limits_.inline_bytes;
  }
  /// True for a block that servers must not, or cannot, read where it lies.
  [[nodiscard]] bool must_copy(const Block& block, const std::vector<array::Piece>& pieces) const;
  /// Cut pieces for which there can never be a copy into parts.
  [[nodiscard]] std::vector<array::Piece> parts(const Block& block,
                                                const std::vector<array::Piece>& pieces) const;
  /// Copy a piece. Waits for memory while servers have copies to give back.
  [[nodiscard]] Copy copy(const Block& block, const array::Piece& piece);

 private:
  [[nodiscard]] bool is_pulled_in_rows(const Block& block,
                                       const std::vector<array::Piece>& pieces) const;

  Limits limits_;
  Link& link_;
};

}  // namespace iocomp::client
