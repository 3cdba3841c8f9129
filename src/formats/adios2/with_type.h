// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "array/element_type.h"
#include "array/with_element_type.h"
#include "base/error.h"

namespace iocomp::formats::bp {

/// As array::with_element_type. @throws Error{unsupported} for float16.
template <typename Action>
void with_type(array::ElementType type, const Action& action) {
  if (!array::with_element_type(type, action)) {
    throw Error{ErrorCode::unsupported, "ADIOS2 has no such element type"};
  }
}

}  // namespace iocomp::formats::bp
