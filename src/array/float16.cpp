// SPDX-License-Identifier: BSD-3-Clause
#include "array/float16.h"

#include <cmath>
#include <cstdint>

namespace iocomp::array {

double from_float16(std::uint16_t bits) noexcept {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return fraction != 0 ? NAN : sign * INFINITY;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(fraction + 1024, exponent - 25);
}

std::uint16_t to_float16(double value) noexcept {
  const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) {
    return 0x7e00U;
  }
  if (std::isinf(value)) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (value == 0 || exponent < -13) {                               // subnormal, or zero
    return static_cast<std::uint16_t>(
        sign | static_cast<unsigned>(std::nearbyint(std::ldexp(std::fabs(value), 24))));
  }
  const auto bits = static_cast<unsigned>(std::nearbyint(std::ldexp(fraction, 11))) - 0x400U;
  // Added, not joined: what is rounded up to the next power of two has one bit more.
  return static_cast<std::uint16_t>(sign | ((static_cast<unsigned>(exponent + 14) << 10U) + bits));
}

}  // namespace iocomp::array
