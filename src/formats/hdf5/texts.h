// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "array/box.h"
#include "array/element_type.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// True if a variable is stored as strings: its characters along the last dimension.
[[nodiscard]] inline bool holds_texts(const Variable& variable) noexcept {
  return variable.type == array::ElementType::character && variable.shape.dimensions > 0 &&
         array::elements(variable.shape) > 0;
}

}  // namespace iocomp::formats::h5
