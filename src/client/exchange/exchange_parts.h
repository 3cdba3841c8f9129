// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/box.h"
#include "client/carrier.h"
#include "writing/piece.h"

namespace iocomp::client {

/// A piece that a rank has for an aggregator, as it travels: elements `first` to `first + count` of
/// the packed order of the box, or all of a list of runs.
struct ExchangedPiece {
  std::int64_t variable = 0;
  array::Box box;
  std::uint64_t runs = 0;  ///< instead of the box: the number of the list that the aggregator knows
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The tag of messages with parts.
constexpr int part_tag = 2;

/// The part of a piece that lies in one stripe: one message.
struct ExchangedPart {
  std::shared_ptr<writing::Piece> piece;
  const Block* block = nullptr;  ///< the block that it comes from; null if that is of another rank
  int from = -1;                 ///< the rank of that block
  std::int64_t stripe = 0;       ///< number in the domain
  std::int64_t first = 0;        ///< in the packed order
  std::int64_t count = 0;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return static_cast<std::size_t>(count * piece->element_bytes());
  }
};

/// Cut a whole piece at the borders of stripes, and add the parts. O(parts).
void cut(ExchangedPart all, std::vector<ExchangedPart>& parts);

/// The numbers of those that have ended since the last look.
[[nodiscard]] std::vector<int> take_ended(std::vector<MPI_Request>& requests);

/// Sort parts into the order in which they travel, by variable and stripe. Parts of the same two
/// keep their order.
void sort(std::vector<ExchangedPart>& parts);

/// True if one lies in a stripe that is written before that of the other.
[[nodiscard]] bool is_before(const ExchangedPart& one, const ExchangedPart& other);

/// The elements of a part in their packed order, where the block lies or in `packed`.
/// @pre the part is of a block of this rank.
[[nodiscard]] std::span<const std::byte> bytes_of(const ExchangedPart& part,
                                                  std::vector<std::byte>& packed);

}  // namespace iocomp::client
