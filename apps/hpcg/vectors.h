// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace iocomp::apps::hpcg {

/// Sum of x[i] * y[i] of this rank. The order of summation depends on the length alone.
[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);

/// y = alpha x + beta y.
void add_scaled(double alpha, std::span<const double> x, double beta, std::span<double> y);

}  // namespace iocomp::apps::hpcg
