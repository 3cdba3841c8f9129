// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "array/element_type.h"

namespace iocomp::array {

/// An element as a number; nothing for complex numbers and characters.
[[nodiscard]] std::optional<double> real_number(ElementType type, const std::byte* element);

}  // namespace iocomp::array
