// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "array/box.h"

namespace iocomp::command {

/// The box that "0:4,10,:" means: for each dimension a number, or begin:end without the end, either
/// of which may be left out; negative ones count from the end. Dimensions that are left out at the
/// end are whole.
/// @throws Error{invalid_argument} naming what is wrong and the shape.
[[nodiscard]] array::Box slice(const std::string& text, const array::Shape& shape);

}  // namespace iocomp::command
