// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace iocomp {

/// Convert between integer types when the value fits.
/// @throws Error{invalid_argument} naming the value.
template <std::integral To, std::integral From>
[[nodiscard]] constexpr To checked_cast(From value) {
  if (!std::in_range<To>(value)) {
    throw Error{ErrorCode::invalid_argument, "the number " + std::to_string(value) +
                                                 " does not fit a count of " +
                                                 std::to_string(sizeof(To)) + " bytes"};
  }
  return static_cast<To>(value);
}

/// Sum and product of sizes and counts.
/// @throws Error{invalid_argument} when 63 bits do not hold it.
[[nodiscard]] inline std::int64_t checked_sum(std::int64_t one, std::int64_t other) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(one, other, &sum)) {
    throw Error{ErrorCode::invalid_argument, "a number of elements or bytes is above 2^63 - 1"};
  }
  return sum;
}
[[nodiscard]] inline std::int64_t checked_product(std::int64_t one, std::int64_t other) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(one, other, &product)) {
    throw Error{ErrorCode::invalid_argument, "a number of elements or bytes is above 2^63 - 1"};
  }
  return product;
}
/// The next multiple; of 0 or 1 it is the number itself.
[[nodiscard]] inline std::int64_t checked_round_up(std::int64_t bytes, std::int64_t multiple) {
  return multiple <= 1 ? bytes : checked_sum(bytes, multiple - 1) / multiple * multiple;
}

}  // namespace iocomp
