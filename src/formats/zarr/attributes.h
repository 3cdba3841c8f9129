// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contents/json_elements.h"
#include "formats/words.h"
#include "formats/zarr/array.h"

namespace iocomp::formats::zarr {

/// Lay attributes over those that are there, as JSON has them: a text, a number, or a list. The
/// names of dimensions are none.
/// @param variable  whose they are, for its fill value, which xarray wants in a form of its own;
/// null: the file.
void lay_over(Json& all, const Attributes& attributes, const Variable* variable);

/// The other way: integers are of 64 bits, and so are other numbers. Truth values are 0 and 1. What
/// iocomp has no type for is left out.
/// @param array  whose they are; null: the file.
[[nodiscard]] Attributes attributes_from(const Json& all, const Array* array);

}  // namespace iocomp::formats::zarr
