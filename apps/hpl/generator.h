// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "hpl/layout.h"

namespace iocomp::apps::hpl {

/// The system of one repetition. Every number follows from the seed, the repetition and its global
/// index alone, so any grid of ranks solves the same system, and any element can be had by itself.
///
/// The numbers are those of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014): a mix of a counter. Of the matrix the counter is the place in the file,
/// behind it come those of the right-hand side. They are even in [-0.5, 0.5).
class Generator {
 public:
  Generator(std::int64_t size, std::uint64_t seed, std::int64_t repetition) noexcept;

  /// Elements from `index` on, counted down the columns.
  void fill(std::int64_t index, std::span<double> values) const noexcept;
  /// The part of a rank.
  void fill(const Layout& layout, double* matrix) const noexcept;
  /// The right-hand side, from row `row` on.
  void fill_right(std::int64_t row, std::span<double> values) const noexcept {
    fill(size_ * size_ + row, values);
  }
  /// The part of a rank; of one in another column than the first nothing.
  void fill_right(const Layout& layout, double* values) const noexcept;

 private:
  std::int64_t size_;
  std::uint64_t stream_;
};

}  // namespace iocomp::apps::hpl
