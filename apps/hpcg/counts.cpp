// SPDX-License-Identifier: BSD-3-Clause
#include "hpcg/counts.h"

#include <cstddef>

namespace iocomp::apps::hpcg {
namespace {

constexpr double value_bytes = 8;
constexpr double entry_bytes = 12;  // the value and a 4-byte index

struct LevelSize {
  double rows;
  double nonzeros;
};

LevelSize level_of(const Work& work, std::size_t level) {
  return {static_cast<double>(work.rows[level]), static_cast<double>(work.nonzeros[level])};
}

/// A sweep reads the matrix twice.
double sweep_reads(const LevelSize& level) {
  return 2 * level.nonzeros * entry_bytes + level.rows * value_bytes;
}

double product_reads(const LevelSize& level) {
  return level.nonzeros * entry_bytes + level.rows * value_bytes;
}

}  // namespace

Counts operations(const Work& work) {
  const auto iterations = static_cast<double>(work.iterations);
  const auto starts = static_cast<double>(work.starts);
  const LevelSize finest = level_of(work, 0);
  Counts counts;
  counts.dot = counts.waxpby = 2 * finest.rows * (3 * iterations + starts);
  counts.spmv = 2 * finest.nonzeros * (iterations + starts);
  for (std::size_t level = 0; level + 1 < work.rows.size(); ++level) {
    counts.multigrid += iterations * 10 * level_of(work, level).nonzeros;
  }
  counts.multigrid += iterations * 4 * level_of(work, work.rows.size() - 1).nonzeros;
  return counts;
}

Counts traffic_bytes(const Work& work) {
  const auto iterations = static_cast<double>(work.iterations);
  const auto starts = static_cast<double>(work.starts);
  const LevelSize finest = level_of(work, 0);
  Counts counts;
  counts.dot = (3 * iterations + starts) * (2 * finest.rows + 1) * value_bytes;
  counts.waxpby = (3 * iterations + starts) * 3 * finest.rows * value_bytes;
  counts.spmv = (iterations + starts) * (product_reads(finest) + finest.rows * value_bytes);
  for (std::size_t i = 0; i + 1 < work.rows.size(); ++i) {
    const LevelSize level = level_of(work, i);
    const double reads = 2 * sweep_reads(level) + product_reads(level);
    const double writes = (level.rows + 2 * level.nonzeros) * value_bytes;
    counts.multigrid += iterations * (reads + writes);
  }
  const LevelSize coarsest = level_of(work, work.rows.size() - 1);
  counts.multigrid += iterations * (sweep_reads(coarsest) + coarsest.rows * value_bytes);
  return counts;
}

}  // namespace iocomp::apps::hpcg
