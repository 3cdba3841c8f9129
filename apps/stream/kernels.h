// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// The four kernels of STREAM, and the same data flow for the pattern that can be verified piece by
/// piece. Arrays do not overlap; `n` elements each.
namespace iocomp::apps::stream {

enum Kernel : std::size_t { copy_c, scale_b, add_c, triad_a, kernel_count };

/// Variables of the file, and names of the timers, by kernel.
inline constexpr const char* variable_names[kernel_count] = {"copy_c", "scale_b", "add_c",
                                                             "triad_a"};
inline constexpr const char* kernel_names[kernel_count] = {"copy", "scale", "add", "triad"};

inline constexpr double scalar = 3.0;

void copy(double* c, const double* a, std::size_t n);                    ///< c = a
void scale(double* b, const double* c, std::size_t n);                   ///< b = scalar c
void add(double* c, const double* a, const double* b, std::size_t n);    ///< c = a + b
void triad(double* a, const double* b, const double* c, std::size_t n);  ///< a = b + scalar c

/// to = from + shift: what every kernel does in the index pattern, where the k-th kernel call of a
/// run (from 1) turns element g into g + k N, with N the global number of elements: its place and
/// its time, exactly.
void shift(double* to, const double* from, double amount, std::size_t n);

}  // namespace iocomp::apps::stream
