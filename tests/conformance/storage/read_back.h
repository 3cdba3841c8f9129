// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "back_end.h"
#include "formats/format.h"

namespace iocomp::formats {

/// All elements of a variable, packed, read without iocomp: by pread, or by the library of the
/// format. Local. Empty when there is no such variable, or not with that type and shape.
[[nodiscard]] std::vector<std::byte> read_back(const BackEnd& back_end, const std::string& path,
                                               const Placed& placed);

}  // namespace iocomp::formats
