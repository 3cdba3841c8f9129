// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hpcg/grid.h"

namespace iocomp::apps::hpcg {

/// The points of other ranks that the stencil of this rank needs. They lie behind its own points in
/// each vector: a box for each neighbour, x fastest.
class Halo {
 public:
  /// Local. @throws Mistake when a rank has more points than its indices can name.
  Halo(const Grid& grid, MPI_Comm comm);

  /// Own points and those of neighbours: the elements of a vector that a matrix is multiplied with.
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  /// The index of a point in a vector. @param point  counted from the first own point; may lie one
  /// outside. @return -1 outside the whole grid.
  [[nodiscard]] std::int64_t column(const Extents& point) const noexcept;
  /// Get the values of neighbours. Collective over this rank and its neighbours.
  /// @param x  at least columns() elements.
  void exchange(std::span<double> x);

 private:
  struct Neighbour {
    int rank;
    int direction;        ///< as this rank sees it
    Extents count;        ///< of the box, the same on both sides
    std::int64_t column;  ///< of the first point received
    std::vector<std::int32_t> rows_sent;
    std::vector<double> sent{};
  };
  static constexpr int directions = 27;

  Grid grid_;
  MPI_Comm comm_;
  std::int64_t columns_;
  std::vector<Neighbour> neighbours_{};
  std::array<int, directions> place_of_{};  ///< in `neighbours_`, by direction; -1: none
  std::vector<MPI_Request> requests_{};
};

}  // namespace iocomp::apps::hpcg
