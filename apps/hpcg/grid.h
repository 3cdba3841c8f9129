// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace iocomp::apps::hpcg {

/// Points, ranks or places along x, y and z. x runs fastest, in memory and in the order of ranks.
using Extents = std::array<std::int64_t, 3>;

[[nodiscard]] constexpr std::int64_t product(const Extents& extents) noexcept {
  return extents[0] * extents[1] * extents[2];
}

/// A 3-D grid of points that is cut into equal boxes, one for each rank.
class Grid {
 public:
  /// @param local  points of each rank.
  /// @param ranks  along each dimension.
  /// @param rank   this one, from 0 to product(ranks) - 1.
  Grid(const Extents& local, const Extents& ranks, int rank);

  [[nodiscard]] const Extents& local() const noexcept { return local_; }
  [[nodiscard]] const Extents& ranks() const noexcept { return ranks_; }
  /// All points, of all ranks.
  [[nodiscard]] Extents global() const noexcept;
  /// The first point of this rank.
  [[nodiscard]] Extents start() const noexcept;
  /// Points of this rank, each a row of its matrix.
  [[nodiscard]] std::int64_t rows() const noexcept { return product(local_); }
  [[nodiscard]] std::int64_t global_rows() const noexcept { return product(global()); }
  /// Entries of the whole matrix of the 27-point stencil.
  [[nodiscard]] std::int64_t global_nonzeros() const noexcept;
  /// The grid of every second point.
  [[nodiscard]] Grid coarser() const;
  /// The rank whose box lies beside this one. @param offset  -1, 0 or 1 per dimension.
  /// @return MPI_PROC_NULL at the end of the grid.
  [[nodiscard]] int neighbour(const Extents& offset) const noexcept;

 private:
  Extents local_;
  Extents ranks_;
  int rank_;
  Extents place_;
};

/// The grid of ranks that the benchmark takes where nobody says one: as near to a cube as possible,
/// most ranks along x.
[[nodiscard]] Extents balanced_ranks(int ranks);

}  // namespace iocomp::apps::hpcg
