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

// A server with a hardware thread of its own reads rows where they lie, which spares the program.
// Elsewhere packing them is less work in all, as long as there is memory for copies.
bool BlockCopies::is_pulled_in_rows(const Block& block,
                                    const std::vector<array::Piece>& pieces) const {
  if (block.buffered || block.gather || block.conversion || block.is_dense()) {
    return false;
  }
  const auto can_take = [this](const array::Piece& piece) {
    return link_.transport()->takes_strided(link_.server_side().rank_of(piece.part));
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
    return link_.transport()->runs_elsewhere(link_.server_side().rank_of(piece.part));
  };
  return row >= least_row_bytes &&
         (!link_.copies().has_room(block.bytes()) || std::ranges::all_of(pieces, runs_elsewhere));
}

bool BlockCopies::must_copy(const Block& block, const std::vector<array::Piece>& pieces) const {
  if (travels_in_header(block.bytes())) {
    return false;
  }
  const bool is_asked = limits_.copy_bytes == std::numeric_limits<std::size_t>::max();
  const bool is_small =
      block.bytes() <= limits_.copy_bytes && link_.copies().has_room(block.bytes());
  return (block.buffered && !has_bug(Bug::buffered_not_copied)) || is_asked || is_small ||
         (!block.is_dense() && !is_pulled_in_rows(block, pieces));
}

// Several parts fit at once, so that one is copied while a server takes another.
std::vector<array::Piece> BlockCopies::parts(const Block& block,
                                             const std::vector<array::Piece>& pieces) const {
  const std::size_t element = block.element_bytes();
  const auto most = static_cast<std::int64_t>(link_.copies().limit_bytes() / element);
  const auto part = std::max<std::int64_t>(most / 4, 1);
  std::vector<array::Piece> parts;
  for (const auto& piece : pieces) {
    const std::int64_t end = piece.first + piece.count;
    const std::int64_t at_once =
        piece.count <= most ? std::max<std::int64_t>(piece.count, 1) : part;
    std::int64_t first = piece.first;
    do {  // also a piece without elements is sent
      parts.push_back({piece.part, first, std::min(at_once, end - first)});
      first += at_once;
    } while (first < end);
  }
  return parts;
}

Copy BlockCopies::copy(const Block& block, const array::Piece& piece) {
  const std::size_t element = block.element_bytes();
  const std::size_t bytes = static_cast<std::size_t>(piece.count) * element;
  Copy copy = link_.copy_buffer(bytes, block.page_remainder(piece.first));
  if (block.is_dense()) {
    const std::size_t from = static_cast<std::size_t>(piece.first) * element;
    stream_copy(copy.get(), block.first_value() + from, bytes);
  } else {
    block.pack(piece.first, piece.count, copy.get());
  }
  return copy;
}

}  // namespace iocomp::client
