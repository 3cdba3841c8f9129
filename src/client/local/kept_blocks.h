// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"
#include "client/carrier.h"
#include "client/link.h"
#include "client/tickets.h"
#include "writing/piece.h"

namespace iocomp::client {

/// The blocks of a file that this rank cannot write yet. Their memory is the program's until they
/// are taken from here, or copied.
class KeptBlocks {
 public:
  struct Kept {
    Block block;
    std::shared_ptr<writing::Piece> piece;
  };
  explicit KeptBlocks(Link& link) : link_{link} {}

  /// Keep a block; one that is buffered is copied at once.
  void keep(Kept kept);
  /// Null if it is not here.
  [[nodiscard]] const Block* find(std::uint64_t ticket) const;
  [[nodiscard]] bool has_any(std::int64_t step) const { return kept_.contains(step); }
  [[nodiscard]] bool has_any(std::int64_t step,
                             const std::function<bool(const Block&)>& is_meant) const;
  /// The number of elements in the blocks of a step.
  [[nodiscard]] std::int64_t elements(std::int64_t step) const;
  /// Copy a block, so that the program's memory is free. @pre find(ticket)
  void copy(std::uint64_t ticket);

  /// Take the blocks that are meant.
  [[nodiscard]] std::vector<Kept> take(const std::function<bool(const Block&)>& is_meant);

 private:
  void lie_in(Copy copy, Block& block);

  Link& link_;
  std::map<std::int64_t, std::deque<Kept>> kept_;  // by step
};

}  // namespace iocomp::client
