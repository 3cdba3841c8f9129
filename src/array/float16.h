// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace iocomp::array {

// IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.

[[nodiscard]] double from_float16(std::uint16_t bits) noexcept;
/// The nearest there is, of two the even one. @pre value is below 65520, infinite or NaN.
[[nodiscard]] std::uint16_t to_float16(double value) noexcept;

}  // namespace iocomp::array
