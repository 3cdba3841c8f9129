// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace iocomp::apps::hpcg {

/// The operations that HPCG 3.1 counts, for all ranks together.
struct Counts {
  double dot = 0;
  double waxpby = 0;
  double spmv = 0;
  double multigrid = 0;

  [[nodiscard]] double total() const noexcept { return dot + waxpby + spmv + multigrid; }
};

/// The amount of work that the counts follow from.
struct Work {
  std::vector<std::int64_t> rows;      ///< of each level, the finest first
  std::vector<std::int64_t> nonzeros;  ///< likewise
  std::int64_t iterations = 0;         ///< of all sets together
  std::int64_t starts = 0;             ///< sets that were begun here, each with a residual
};

/// Floating point operations.
[[nodiscard]] Counts operations(const Work& work);
/// Bytes that are read and written. HPCG 3.1 counts a write for each entry, not for each row, where
/// the residual is computed and after the coarser grids; so does this, to be comparable.
[[nodiscard]] Counts traffic_bytes(const Work& work);

}  // namespace iocomp::apps::hpcg
