// SPDX-License-Identifier: BSD-3-Clause
#include "stream/arrays.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace iocomp::apps::stream {
namespace {

// STREAM's initial values; c is overwritten before it is read.
constexpr double initial_a = 1.0;
constexpr double initial_b = 2.0;
// STREAM's tolerance for doubles: mean error relative to the expected value.
constexpr double tolerance = 1e-13;

double mean_relative_error(std::span<const double> values, double expected) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value - expected);
  return sum / static_cast<double>(values.size()) / std::abs(expected);
}

}  // namespace

Arrays::Arrays(Pattern pattern, const Session* memory_of, std::size_t elements, std::int64_t first,
               std::int64_t global, int sets)
    : pattern_{pattern}, first_{static_cast<double>(first)}, global_{static_cast<double>(global)} {
  for (int i = 0; i < sets; ++i) {
    const Set& set = sets_.emplace_back(memory_of, elements);
    std::ranges::fill(set.b.values(), initial_b);
    if (pattern == Pattern::stream) {
      std::ranges::fill(set.a.values(), initial_a);
    } else {
      for (std::size_t e = 0; e < elements; ++e) set.a.data()[e] = first_ + static_cast<double>(e);
    }
  }
}

void Arrays::run(Kernel kernel, std::size_t begin, std::size_t count) {
  double* const a = set().a.data() + begin;
  double* const b = set().b.data() + begin;
  double* const c = set().c.data() + begin;
  if (pattern_ == Pattern::stream) {
    switch (kernel) {
      case copy_c:
        return copy(c, a, count);
      case scale_b:
        return scale(b, c, count);
      case add_c:
        return add(c, a, b, count);
      default:
        return triad(a, b, c, count);
    }
  }
  switch (kernel) {
    case copy_c:
      return shift(c, a, global_, count);
    case scale_b:
      return shift(b, c, global_, count);
    case add_c:
      return shift(c, b, global_, count);
    default:
      return shift(a, c, global_, count);
  }
}

std::span<const double> Arrays::written_by(Kernel kernel) const {
  const Set& set = sets_[current_];
  switch (kernel) {
    case scale_b:
      return set.b.values();
    case triad_a:
      return set.a.values();
    default:
      return set.c.values();
  }
}

std::string Arrays::mistake() const {
  for (const Set& set : sets_) {
    std::string found = set.loops == 0                ? ""
                        : pattern_ == Pattern::stream ? mistake_in_stream(set)
                                                      : mistake_in_index(set);
    if (!found.empty()) return found;
  }
  return "";
}

std::string Arrays::mistake_in_stream(const Set& set) {
  double a = initial_a;
  double b = initial_b;
  double c = 0;
  for (int loop = 0; loop < set.loops; ++loop) {
    c = a;
    b = scalar * c;
    c = a + b;
    a = b + scalar * c;
  }
  const std::array errors{mean_relative_error(set.a.values(), a),
                          mean_relative_error(set.b.values(), b),
                          mean_relative_error(set.c.values(), c)};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] <= tolerance) continue;
    std::ostringstream text;
    text << "array " << "abc"[i] << " has a mean relative error of " << errors[i] << ", allowed is "
         << tolerance;
    return text.str();
  }
  return "";
}

std::string Arrays::mistake_in_index(const Set& set) const {
  const double calls = 4.0 * set.loops;  // the last triad made a, the call before it c
  for (std::size_t i = 0; i < size(); ++i) {
    const double expected = first_ + static_cast<double>(i) + calls * global_;
    if (set.a.data()[i] == expected && set.c.data()[i] == expected - global_) continue;
    std::ostringstream text;
    text << "element " << i << " of a is " << set.a.data()[i] << ", expected is " << expected;
    return text.str();
  }
  return "";
}

}  // namespace iocomp::apps::stream
