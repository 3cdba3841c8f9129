// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/triad.h"

#include <algorithm>

namespace iocomp::bench {
namespace {

void pass(double* __restrict u, const double* __restrict a, const double* __restrict b, double q,
          std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) u[i] = a[i] + q * b[i];
}

}  // namespace

Triad::Triad(std::size_t elements) : a_{elements}, b_{elements} {
  for (std::size_t i = 0; i < elements; ++i) {
    a_.data()[i] = static_cast<double>(i);
    b_.data()[i] = 2.0 * static_cast<double>(i);
  }
}

void Triad::run(double* u, double q, std::size_t total) const {
  const std::size_t elements = a_.size();
  for (std::size_t left = std::max(total, elements); left > 0;) {
    const std::size_t count = std::min(left, elements);
    pass(u, a_.data(), b_.data(), q, count);
    // Every pass writes the same; without this the compiler may keep only the last one.
    __asm__ volatile("" : : "r"(u) : "memory");
    left -= count;
  }
}

}  // namespace iocomp::bench
