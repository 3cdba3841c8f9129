// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/format.h"

namespace iocomp::formats {

/// The dataset "/<step>/<name>", if it has the type and shape of the variable; else nothing.
[[nodiscard]] std::vector<std::byte> read_hdf5(const std::string& path, const Placed& placed);

/// True if there is an object of that name.
[[nodiscard]] bool hdf5_has(const std::string& path, const std::string& object);

/// An attribute of an object as text: numbers separated by blanks (complex ones as "r i"), text as
/// it is.
[[nodiscard]] std::string hdf5_attribute(const std::string& path, const std::string& object,
                                         const std::string& name);

}  // namespace iocomp::formats
