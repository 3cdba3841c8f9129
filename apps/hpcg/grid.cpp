// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/grid.h"

#include <mpi.h>

namespace iocomp::apps::hpcg {

Grid::Grid(const Extents& local, const Extents& ranks, int rank)
    : local_{local},
      ranks_{ranks},
      rank_{rank},
      place_{rank % ranks[0], rank / ranks[0] % ranks[1], rank / (ranks[0] * ranks[1])} {}

Extents Grid::global() const noexcept {
  return {local_[0] * ranks_[0], local_[1] * ranks_[1], local_[2] * ranks_[2]};
}

Extents Grid::start() const noexcept {
  return {local_[0] * place_[0], local_[1] * place_[1], local_[2] * place_[2]};
}

// Along a dimension of n points there are 3 n - 2 pairs of neighbours, each point with itself too.
std::int64_t Grid::global_nonzeros() const noexcept {
  const Extents points = global();
  return (3 * points[0] - 2) * (3 * points[1] - 2) * (3 * points[2] - 2);
}

Grid Grid::coarser() const {
  return {{local_[0] / 2, local_[1] / 2, local_[2] / 2}, ranks_, rank_};
}

int Grid::neighbour(const Extents& offset) const noexcept {
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const std::int64_t place = place_[d] + offset[d];
    if (place < 0 || place >= ranks_[d]) return MPI_PROC_NULL;
  }
  return rank_ + static_cast<int>(offset[0] + ranks_[0] * (offset[1] + ranks_[1] * offset[2]));
}

Extents balanced_ranks(int ranks) {
  std::array<int, 3> dimensions{};
  MPI_Dims_create(ranks, 3, dimensions.data());
  return {dimensions[0], dimensions[1], dimensions[2]};
}

}  // namespace iocomp::apps::hpcg
