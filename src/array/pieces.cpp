// SPDX-License-Identifier: BSD-3-Clause
#include "array/pieces.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/runs.h"

namespace iocomp::array {
namespace {

// The first `longer` parts have one granule more than the others.
struct Division {
  explicit Division(const Domains& domains) noexcept
      : granules{domains.elements / domains.granule_elements +
                 (domains.elements % domains.granule_elements == 0 ? 0 : 1)},
        each{granules / domains.parts},
        longer{granules % domains.parts} {}

  [[nodiscard]] std::int64_t part_of(std::int64_t granule) const noexcept {
    const std::int64_t in_longer = longer * (each + 1);
    return granule < in_longer ? granule / (each + 1) : longer + (granule - in_longer) / each;
  }

  std::int64_t granules;
  std::int64_t each;
  std::int64_t longer;
};

}  // namespace

std::int64_t index_of(const Shape& shape, const Region& region, std::int64_t packed) noexcept {
  Run run;
  RunCursor cursor{shape, region, packed, 1};
  return cursor.next(run) ? run.index : 0;
}

std::int64_t Domains::begin(int part) const noexcept {
  const Division division{*this};
  const std::int64_t granule = division.each * part + std::min<std::int64_t>(part, division.longer);
  // The last granule may be cut short, and its end may be beyond 63 bits.
  return granule >= division.granules ? elements : granule * granule_elements;
}

Domains divide(const Shape& shape, std::int64_t element_bytes, int parts,
               std::int64_t granule_bytes) noexcept {
  return {.elements = elements(shape),
          .parts = parts,
          .granule_elements = std::max<std::int64_t>(1, granule_bytes / element_bytes)};
}

std::vector<Piece> cut(const Shape& shape, const Region& region, const Domains& domains) {
  std::vector<Piece> pieces;
  const Division division{domains};
  const std::int64_t all = elements(region);
  // A box with gaps may leap over many domains: ask where the next element lies, instead of asking
  // every domain.
  for (std::int64_t first = 0; first < all;) {
    const std::int64_t granule = index_of(shape, region, first) / domains.granule_elements;
    const int part = static_cast<int>(division.part_of(granule));
    const std::int64_t end = elements_below(shape, region, domains.begin(part + 1));
    pieces.push_back({.part = part, .first = first, .count = end - first});
    first = end;
  }
  return pieces;
}

}  // namespace iocomp::array
