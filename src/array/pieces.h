// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "array/box.h"
#include "array/region.h"

namespace iocomp::array {

/// The division of a variable over the servers: contiguous parts of its row-major order, one per
/// server, as equal as whole granules allow.
struct Domains {
  std::int64_t elements = 0;          ///< of the whole variable
  int parts = 1;                      ///< >= 1
  std::int64_t granule_elements = 1;  ///< borders are multiples of this

  /// First element of a part; `begin(parts)` is `elements`.
  [[nodiscard]] std::int64_t begin(int part) const noexcept;
};

/// Divides a variable over the servers, so that borders lie at multiples of `granule_bytes` from
/// its first byte if whole elements allow it.
[[nodiscard]] Domains divide(const Shape& shape, std::int64_t element_bytes, int parts,
                             std::int64_t granule_bytes) noexcept;

/// A part of a block that travels to one server: elements `first` to `first + count` of the packed
/// order of the block. Because the row-major order of a block follows that of the array, the part
/// of a block in a domain is contiguous in its packed order.
struct Piece {
  int part = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Cut a block into its pieces, one per domain that it touches, ascending. Empty blocks have none.
/// O(pieces), times the logarithm of the number of runs where there is a list of them.
[[nodiscard]] std::vector<Piece> cut(const Shape& shape, const Region& region,
                                     const Domains& domains);

/// The row-major index in the shape of an element of the packed order of the region; 0 where there
/// is none.
[[nodiscard]] std::int64_t index_of(const Shape& shape, const Region& region,
                                    std::int64_t packed) noexcept;

}  // namespace iocomp::array
