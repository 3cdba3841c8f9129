// SPDX-License-Identifier: BSD-3-Clause
#include "stream/kernels.h"

// Plain loops over restricted pointers, as in the original: the compiler vectorises them (and makes
// copy a memcpy).
namespace iocomp::apps::stream {

void copy(double* __restrict c, const double* __restrict a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
}

void scale(double* __restrict b, const double* __restrict c, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) b[i] = scalar * c[i];
}

void add(double* __restrict c, const double* __restrict a, const double* __restrict b,
         std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void triad(double* __restrict a, const double* __restrict b, const double* __restrict c,
           std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
}

void shift(double* __restrict to, const double* __restrict from, double amount, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] + amount;
}

}  // namespace iocomp::apps::stream
