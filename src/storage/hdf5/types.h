#pragma once

#include <hdf5.h>

#include <optional>

#include "array/element_type.h"
#include "storage/hdf5/handle.h"

namespace iocomp::storage::h5 {

/// The type of elements in memory and, because no conversion is wanted, in the file. Complex
/// numbers are a compound {r, i}, float16 is an IEEE half, both as h5py has them.
[[nodiscard]] Type element_type(array::ElementType type);

/// The type whose elements the library turns such elements into without loss, or nothing.
[[nodiscard]] std::optional<array::ElementType> element_type_of(hid_t stored);

/// Text of any length, UTF-8, zero-terminated.
[[nodiscard]] Type text_type();

}  // namespace iocomp::storage::h5
