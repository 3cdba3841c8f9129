#pragma once

#include <concepts>
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

}  // namespace iocomp
