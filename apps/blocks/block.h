// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace iocomp::apps::blocks {

using Extents = std::vector<std::int64_t>;

/// A box of a global array: first index and extent, in elements, one entry per dimension.
struct Box {
  Extents start;
  Extents count;

  [[nodiscard]] std::int64_t elements() const;
};

/// A global array of doubles, and the box of it that a rank has.
struct Block {
  Extents shape;
  Box own;
};

/// The product of all extents; 1 without any.
[[nodiscard]] std::int64_t product(const Extents& extents);

/// The ranks per dimension that MPI_Dims_create finds.
[[nodiscard]] std::vector<int> balanced_grid(int ranks, int dimensions);

/// The box of `rank` when `shape` is cut evenly over a grid of ranks, the last dimension fastest;
/// parts differ by one element at most.
[[nodiscard]] Box part_of(const Extents& shape, const std::vector<int>& grid, int rank);

/// The values of an array.
struct Pattern {
  std::int64_t stamp = 0;  ///< tells the time
  int noise_bits = 0;  ///< so many of their last bits look random, as those of computed values do
};

/// Values that tell their place and time: the element with the row-major index g of an array of N
/// elements is g + stamp N, but for the noise, which follows from that number.
/// @throws std::runtime_error when these are not exact in a double.
void fill(const Extents& shape, const Box& box, const Pattern& pattern, std::span<double> values);

/// @return "", or how many values are not what `fill` makes, and the first of them.
[[nodiscard]] std::string mistake_in(const Extents& shape, const Box& box, const Pattern& pattern,
                                     std::span<const double> values);

/// "256 x 256 x 128"
[[nodiscard]] std::string text(const Extents& extents);

}  // namespace iocomp::apps::blocks
