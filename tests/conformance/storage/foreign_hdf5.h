// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace iocomp::formats {

/// Write an HDF5 file as no iocomp does: "/temperature", 6 x 7 big-endian float32, chunked and
/// deflated, element (i, j) is 7 i + j, with the attributes "units" = "K" (of variable length) and
/// "scale" = 0.5; "/group/counts", 5 int16, contiguous, element i is -i; "/name", a string; and the
/// attribute "title" = "foreign" (of fixed length) of the file.
void write_foreign_hdf5(const std::string& path);

}  // namespace iocomp::formats
