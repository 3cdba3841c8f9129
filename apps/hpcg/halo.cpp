// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/halo.h"

#include <limits>
#include <string>

#include "common/mistake.h"

namespace iocomp::apps::hpcg {
namespace {

int direction_of(const Extents& offset) {
  return static_cast<int>(offset[0] + 1 + 3 * (offset[1] + 1 + 3 * (offset[2] + 1)));
}

Extents offset_of(int direction) {
  return {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
}

/// The own points that a neighbour needs, in the order in which it keeps them.
std::vector<std::int32_t> rows_beside(const Extents& offset, const Extents& local) {
  Extents first{};
  Extents last{};
  for (std::size_t d = 0; d < first.size(); ++d) {
    first[d] = offset[d] > 0 ? local[d] - 1 : 0;
    last[d] = offset[d] < 0 ? 0 : local[d] - 1;
  }
  std::vector<std::int32_t> rows;
  for (std::int64_t z = first[2]; z <= last[2]; ++z) {
    for (std::int64_t y = first[1]; y <= last[1]; ++y) {
      for (std::int64_t x = first[0]; x <= last[0]; ++x) {
        rows.push_back(static_cast<std::int32_t>(x + local[0] * (y + local[1] * z)));
      }
    }
  }
  return rows;
}

void refuse_too_many(const Extents& local) {
  const double columns = static_cast<double>(local[0] + 2) * static_cast<double>(local[1] + 2) *
                         static_cast<double>(local[2] + 2);
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (columns > most) {
    throw Mistake("a rank has " + std::to_string(local[0]) + " x " + std::to_string(local[1]) +
                  " x " + std::to_string(local[2]) +
                  " points; with those of its neighbours at most 2147483647 can be "
                  "named: take more ranks, or a smaller --local");
  }
}

}  // namespace

Halo::Halo(const Grid& grid, MPI_Comm comm) : grid_{grid}, comm_{comm}, columns_{grid.rows()} {
  refuse_too_many(grid.local());
  place_of_.fill(-1);
  const Extents& local = grid.local();
  for (int direction = 0; direction < directions; ++direction) {
    const Extents offset = offset_of(direction);
    const int rank = grid.neighbour(offset);
    if (rank == MPI_PROC_NULL || offset == Extents{0, 0, 0}) continue;
    const Extents count{offset[0] == 0 ? local[0] : 1, offset[1] == 0 ? local[1] : 1,
                        offset[2] == 0 ? local[2] : 1};
    place_of_[static_cast<std::size_t>(direction)] = static_cast<int>(neighbours_.size());
    neighbours_.push_back({rank, direction, count, columns_, rows_beside(offset, local)});
    neighbours_.back().sent.resize(neighbours_.back().rows_sent.size());
    columns_ += product(count);
  }
  requests_.resize(2 * neighbours_.size());
}

std::int64_t Halo::column(const Extents& point) const noexcept {
  const Extents& local = grid_.local();
  Extents offset{};
  Extents inside{};  // of the neighbour's box, or of the own one
  for (std::size_t d = 0; d < offset.size(); ++d) {
    offset[d] = point[d] < 0 ? -1 : (point[d] < local[d] ? 0 : 1);
    inside[d] = offset[d] == 0 ? point[d] : 0;
  }
  const int direction = direction_of(offset);
  if (direction == directions / 2) return inside[0] + local[0] * (inside[1] + local[1] * inside[2]);
  const int place = place_of_[static_cast<std::size_t>(direction)];
  if (place < 0) return -1;
  const Neighbour& neighbour = neighbours_[static_cast<std::size_t>(place)];
  return neighbour.column + inside[0] +
         neighbour.count[0] * (inside[1] + neighbour.count[1] * inside[2]);
}

void Halo::exchange(std::span<double> x) {
  std::size_t request = 0;
  for (const Neighbour& neighbour : neighbours_) {  // it sees this rank in the opposite direction
    MPI_Irecv(&x[static_cast<std::size_t>(neighbour.column)],
              static_cast<int>(neighbour.rows_sent.size()), MPI_DOUBLE, neighbour.rank,
              directions - 1 - neighbour.direction, comm_, &requests_[request++]);
  }
  for (Neighbour& neighbour : neighbours_) {
    for (std::size_t i = 0; i < neighbour.sent.size(); ++i) {
      neighbour.sent[i] = x[static_cast<std::size_t>(neighbour.rows_sent[i])];
    }
    MPI_Isend(neighbour.sent.data(), static_cast<int>(neighbour.sent.size()), MPI_DOUBLE,
              neighbour.rank, neighbour.direction, comm_, &requests_[request++]);
  }
  MPI_Waitall(static_cast<int>(request), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace iocomp::apps::hpcg
