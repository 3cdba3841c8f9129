// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace iocomp::apps::hpl {

/// Indices from 0 on are dealt out in blocks: the first block to place 0, the next to place 1, and
/// so on in turn. One place sees its own indices as 0, 1, 2 ...
class BlockCyclic {
 public:
  /// @param size    indices in all. @param place  this one, of `places`.
  constexpr BlockCyclic(std::int64_t size, std::int64_t block, int places, int place) noexcept
      : size_{size}, block_{block}, places_{places}, place_{place} {}

  [[nodiscard]] constexpr std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr std::int64_t block() const noexcept { return block_; }
  [[nodiscard]] constexpr int places() const noexcept { return places_; }
  [[nodiscard]] constexpr int place() const noexcept { return place_; }

  /// Indices of this place.
  [[nodiscard]] constexpr std::int64_t count() const noexcept { return below(size_); }
  /// The place that has an index.
  [[nodiscard]] constexpr int owner(std::int64_t index) const noexcept {
    return static_cast<int>(index / block_ % places_);
  }
  /// The local index, at the place that has a global one.
  [[nodiscard]] constexpr std::int64_t local(std::int64_t index) const noexcept {
    return index / block_ / places_ * block_ + index % block_;
  }
  /// The index that this place calls `local`.
  [[nodiscard]] constexpr std::int64_t global(std::int64_t local) const noexcept {
    return (local / block_ * places_ + place_) * block_ + local % block_;
  }
  /// The number of smaller indices of this place: its own name for the first one from `index` on.
  [[nodiscard]] constexpr std::int64_t below(std::int64_t index) const noexcept {
    const std::int64_t blocks = index / block_;  // whole ones, of all places
    const std::int64_t own = (blocks - place_ + places_ - 1) / places_;
    return own * block_ + (blocks % places_ == place_ ? index % block_ : 0);
  }

 private:
  std::int64_t size_;
  std::int64_t block_;
  int places_;
  int place_;
};

}  // namespace iocomp::apps::hpl
