// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace iocomp::bench {

/// The value below which `part` of the samples lie, interpolated. @pre samples are not empty.
[[nodiscard]] double quantile(std::vector<double> samples, double part);

/// {"median", "p99", "longest"} of seconds. @pre samples are not empty.
[[nodiscard]] nlohmann::json distribution(const std::vector<double>& samples);

}  // namespace iocomp::bench
