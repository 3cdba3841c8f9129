// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>

#include "hpl/generator.h"

namespace iocomp::apps::hpl {

/// Up to here a solution is right.
inline constexpr double residual_threshold = 16.0;

/// HPL's scaled residual of a solution: the largest element of |A x - b|, divided by
/// eps (|A| |x| + |b|) N, with the norms of the largest sum of a row and of the largest element.
/// The matrix is made again, row by row in the same order whatever the grid, so the same x gives
/// the same bits on any number of ranks. Collective over `comm`.
/// @param x  all of it.
[[nodiscard]] double scaled_residual(MPI_Comm comm, const Generator& generator,
                                     std::span<const double> x);

}  // namespace iocomp::apps::hpl
