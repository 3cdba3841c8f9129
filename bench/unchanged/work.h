// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>

/// A fixed amount of work, not of time: whatever takes the core away makes it longer.
inline double work(long rounds, double x) {
  static std::array<double, 4096> values{};
  for (long r = 0; r < rounds; ++r) {
    for (double& value : values) {
      value = value * 0.999 + x;
    }
  }
  return values[17];
}

struct Seconds {
  double computing = 0;
  double writing = 0;
  double closing = 0;  // flushes, too
};

/// One line of JSON.
inline void print(double wall, const Seconds& seconds) {
  std::printf(
      "{\"wall_seconds\": %.6f, \"compute_seconds\": %.6f, \"write_seconds\": %.6f, "
      "\"close_seconds\": %.6f}\n",
      wall, seconds.computing, seconds.writing, seconds.closing);
}

constexpr std::size_t row = 2048;  // elements
constexpr std::size_t rows_per_mib = (std::size_t{1} << 20) / (row * sizeof(double));
