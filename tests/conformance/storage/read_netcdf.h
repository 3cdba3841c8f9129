// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/format.h"

namespace iocomp::formats {

/// The variable as netCDF reads it, in the record of its step if it has records, if it has the type
/// and shape that are expected; else nothing.
[[nodiscard]] std::vector<std::byte> read_netcdf(const std::string& path, const Placed& placed);

}  // namespace iocomp::formats
