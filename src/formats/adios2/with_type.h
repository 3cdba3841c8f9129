// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "array/element_type.h"
#include "array/with_element_type.h"
#include "base/error.h"

namespace iocomp::formats::bp {

/// As array::with_element_type. @throws Error{unsupported} for float16.
template <typename Action>
void with_type(array::ElementType type, const Action& action) {
  array::with_element_type(type, [&]<typename T>(std::type_identity<T> is) {
    if constexpr (std::is_same_v<T, array::Half>) {
      throw Error{ErrorCode::unsupported, "ADIOS2 has no such element type"};
    } else {
      action(is);
    }
  });
}

}  // namespace iocomp::formats::bp
