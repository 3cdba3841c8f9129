// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/words.h"

namespace iocomp::formats::cdf {

/// A variable of a file, as netCDF has it.
struct Looked {
  struct Dimension {
    int number = 0;
    std::string name;
    std::int64_t length = 0;
  };
  std::string name;
  int type = 0;                       ///< netCDF's number
  std::vector<Dimension> dimensions;  ///< slowest first
};
/// @param file, variable  netCDF's numbers. @param path  for errors.
/// @throws Error{storage_failure}; so below.
[[nodiscard]] Looked look_at(int file, int variable, const std::string& path);

/// Attributes of a variable, or of the file (NC_GLOBAL). Those that iocomp has no type for are left
/// out.
[[nodiscard]] Attributes attributes_in(int file, int variable, const std::string& path);

void check_netcdf(int code, const std::string& action, const std::string& path);

}  // namespace iocomp::formats::cdf
