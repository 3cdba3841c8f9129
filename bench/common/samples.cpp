// SPDX-License-Identifier: BSD-3-Clause
#include "common/samples.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace iocomp::bench {

double quantile(std::vector<double> samples, double part) {
  std::ranges::sort(samples);
  const double position = part * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], position - std::floor(position));
}

nlohmann::json distribution(const std::vector<double>& samples) {
  return {{"median", quantile(samples, 0.5)},
          {"p99", quantile(samples, 0.99)},
          {"longest", quantile(samples, 1.0)}};
}

}  // namespace iocomp::bench
