// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/multigrid.h"

#include <algorithm>

namespace iocomp::apps::hpcg {
namespace {

std::vector<std::int32_t> every_second_point(const Extents& local) {
  std::vector<std::int32_t> rows;
  for (std::int64_t z = 0; z < local[2]; z += 2) {
    for (std::int64_t y = 0; y < local[1]; y += 2) {
      for (std::int64_t x = 0; x < local[0]; x += 2) {
        rows.push_back(static_cast<std::int32_t>(x + local[0] * (y + local[1] * z)));
      }
    }
  }
  return rows;
}

}  // namespace

Multigrid::Multigrid(const Grid& grid, MPI_Comm comm, Format format, const Session* session) {
  stages_.emplace_back(grid, comm, format, session);
  while (stages_.size() < levels) {
    Stage& finer = stages_.back();
    Stage& coarser = stages_.emplace_back(finer.level.grid().coarser(), comm, format, nullptr);
    finer.coarse_rows = every_second_point(finer.level.grid().local());
    finer.coarse_r.emplace(coarser.level.vector_elements());
    finer.coarse_x.emplace(coarser.level.vector_elements());
  }
}

void Multigrid::cycle(std::size_t stage, std::span<const double> r, std::span<double> x) {
  Stage& own = stages_[stage];
  Operator& rows = own.level.rows();
  Halo& halo = own.level.halo();
  std::fill(x.begin(), x.end(), 0.0);
  rows.smooth_zero(r, x);
  if (own.coarse_rows.empty()) return;

  const std::span<double> coarse_x = own.coarse_x->values();
  halo.exchange(x);
  rows.residual_at(own.coarse_rows, r, x, own.coarse_r->values());
  cycle(stage + 1, own.coarse_r->values(), coarse_x);
  for (std::size_t i = 0; i < own.coarse_rows.size(); ++i) {
    x[static_cast<std::size_t>(own.coarse_rows[i])] += coarse_x[i];
  }
  halo.exchange(x);
  rows.smooth(r, x);
}

std::vector<std::int64_t> Multigrid::global_rows() const {
  std::vector<std::int64_t> all;
  for (const Stage& stage : stages_) all.push_back(stage.level.grid().global_rows());
  return all;
}

std::vector<std::int64_t> Multigrid::global_nonzeros() const {
  std::vector<std::int64_t> all;
  for (const Stage& stage : stages_) all.push_back(stage.level.grid().global_nonzeros());
  return all;
}

}  // namespace iocomp::apps::hpcg
