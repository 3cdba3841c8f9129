// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <string>

#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// One attribute of an object: `values` as `type` and `space` say; none if null.
/// @throws Error{storage_failure}.
void write_attribute(hid_t object, const std::string& name, const Type& type, const Space& space,
                     const void* values, const std::string& path);

/// Attach attributes to an object: one value as a scalar, several as a one-dimensional array, text
/// as a string, none as a null space.
/// @throws Error{storage_failure}.
void write_attributes(hid_t object, const Attributes& attributes, const std::string& path);

/// All attributes of an object that have a type of iocomp's, or are text.
/// @throws Error{storage_failure}.
[[nodiscard]] Attributes read_attributes(hid_t object, const std::string& path);

}  // namespace iocomp::formats::h5
