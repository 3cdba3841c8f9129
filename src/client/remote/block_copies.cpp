// SPDX-License-Identifier: BSD-3-Clause
#include "client/remote/block_copies.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "array/pieces.h"
#include "array/region.h"
#include "array/runs.h"
#include "base/bug.h"
#include "base/stream_copy.h"
#include "client/carrier.h"
#include "client/link.h"
#include "transport/transport.h"

namespace iocomp::client {
namespace {

// A server that reads shorter rows has more work than the rank that packs them: 0.4 us each, beside
// the bytes.
constexpr std::size_t least_row_bytes = 4096;

}  // namespace

Copy BlockCopies::take(Block& block, const std::vector<array::Piece>& pieces) {
  if (!must_copy(block, pieces)) {
    return nullptr;
  }
  Copy copy = this->copy(block);
  block.lies_packed(copy.get());
  return copy;
}

// A server with a hardware thread of its own reads rows where they lie, which spares the program.
// Elsewhere packing them is less work in all, as long as there is memory for copies.
bool BlockCopies::is_pulled_in_rows(const Block& block,
                                    const std::vector<array::Piece>& pieces) const {
  if (block.buffered || block.gather || block.conversion || block.is_dense()) {
    return false;
  }
  const auto can_take = [this](const array::Piece& piece) {
    return link_.transport()->takes_strided(link_.rank_of(piece.part));
  };
  if (!std::ranges::all_of(pieces, can_take)) {
    return false;
  }
  if (limits_.pulls) {
    return true;
  }
  const std::size_t row =
      static_cast<std::size_t>(array::row_elements(block.memory.shape, block.memory.box)) *
      block.element_bytes();
  const auto runs_elsewhere = [this](const array::Piece& piece) {
    return link_.transport()->runs_elsewhere(link_.rank_of(piece.part));
  };
  return row >= least_row_bytes &&
         (!link_.has_copy_room(block.bytes()) || std::ranges::all_of(pieces, runs_elsewhere));
}

bool BlockCopies::must_copy(const Block& block, const std::vector<array::Piece>& pieces) const {
  if (travels_in_header(block.bytes())) {
    return false;
  }
  const bool is_asked = limits_.copy_bytes == std::numeric_limits<std::size_t>::max();
  const bool is_small = block.bytes() <= limits_.copy_bytes && link_.has_copy_room(block.bytes());
  return (block.buffered && !has_bug(Bug::buffered_not_copied)) || is_asked || is_small ||
         (!block.is_dense() && !is_pulled_in_rows(block, pieces));
}

Copy BlockCopies::copy(const Block& block) {
  // The copy lies as far from a page border as the block does in the file, where variables begin at
  // one. So it can be written O_DIRECT.
  const auto first = array::index_of(block.variable.shape, block.region, 0);
  const std::size_t at = static_cast<std::size_t>(first) * block.element_bytes();
  Copy copy = link_.copy_buffer(block.bytes(), at % transport::Transport::page_bytes);
  if (block.is_dense()) {
    stream_copy(copy.get(), block.first_value(), block.bytes());
  } else {
    block.pack(0, array::elements(block.region), copy.get());
  }
  return copy;
}

}  // namespace iocomp::client
