// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <string>

#include "array/element_type.h"
#include "formats/hdf5/handle.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// The type of elements of NetCDF-4 in an HDF5 file: characters are strings of length one,
/// and of complex numbers it is that of their parts.
[[nodiscard]] h5::Type netcdf_type(array::ElementType type);

/// Write attributes as netCDF does: values in a row, text as one string of its length.
/// @throws Error{storage_failure}.
void write_netcdf_attributes(hid_t object, const Attributes& attributes, const std::string& path);

}  // namespace iocomp::formats::cdf
