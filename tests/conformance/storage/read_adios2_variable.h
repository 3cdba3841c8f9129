// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/format.h"

namespace iocomp::formats {

/// The variable in the step of that number, if it has the type and shape; else nothing.
[[nodiscard]] std::vector<std::byte> read_adios2_variable(const std::string& path,
                                                          const std::string& engine,
                                                          const Placed& placed);

}  // namespace iocomp::formats
