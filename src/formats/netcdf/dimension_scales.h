// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "formats/hdf5/handle.h"

namespace iocomp::formats::cdf {

/// A variable of a NetCDF-4 file, and its dimensions, slowest first.
struct Scaled {
  struct Dimension {
    std::string name;
    std::int64_t length = 0;  ///< 0 where it is unlimited
    bool is_unlimited = false;
  };
  std::string name;
  hid_t dataset = H5I_INVALID_HID;
  std::vector<Dimension> dimensions;
};

/// The names of the variables in the file. One that only has the name of a dimension gets another
/// name, as in netCDF. @param variables  without datasets.
[[nodiscard]] std::vector<std::string> names_in_file(const std::vector<Scaled>& variables);

/// Make the dimensions of a NetCDF-4 file as its format has them, in the order in which variables
/// name them: each is a "dimension scale" of HDF5, the variable of its name where that begins with
/// it, else a dataset without data; the others refer to it.
/// Sources: "NetCDF-4 Format Specification" (docs.unidata.ucar.edu), "HDF5 Dimension Scale
/// Specification" (portal.hdfgroup.org).
/// @param root  the group that has the variables, under their names in the file.
/// @return the dataset of the unlimited dimension "time", where it is no variable.
/// @throws Error{storage_failure}.
std::vector<h5::Dataset> add_dimensions(hid_t root, const std::vector<Scaled>& variables,
                                        const std::string& path);

}  // namespace iocomp::formats::cdf
