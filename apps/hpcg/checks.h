// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "hpcg/multigrid.h"

namespace iocomp::apps::hpcg {

/// Iterations until the residual is 1e-12 of the first one, with a diagonal that dominates: HPCG's
/// spectral test.
struct Spectral {
  static constexpr int most_plain = 12;
  static constexpr int most_preconditioned = 2;
  int plain = 0;
  int preconditioned = 0;

  [[nodiscard]] bool passed() const noexcept {
    return plain <= most_plain && preconditioned <= most_preconditioned;
  }
};

/// |x'Ay - y'Ax| and the same of the preconditioner, over what rounding explains: HPCG's symmetry
/// test.
struct Symmetry {
  double spmv = 0;
  double multigrid = 0;

  [[nodiscard]] bool passed() const noexcept { return spmv <= 1 && multigrid <= 1; }
};

/// Changes the diagonal of the finest matrix and puts it back. Collective over `comm`.
[[nodiscard]] Spectral test_spectrum(Multigrid& multigrid, MPI_Comm comm);
/// Collective over `comm`.
[[nodiscard]] Symmetry test_symmetry(Multigrid& multigrid, MPI_Comm comm);

}  // namespace iocomp::apps::hpcg
