// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::formats::h5 {

/// Number of Zstandard among the filters that are registered with The HDF Group. A filtered chunk
/// is one frame of Zstandard; the filter's one value is the level.
inline constexpr int zstd_filter = 32015;

/// From now on the HDF5 of this process can write and read it without a plug-in; where this build
/// has no Zstandard, nothing changes.
/// @throws Error{storage_failure} where HDF5 refuses that.
void make_zstd_known();
/// The same for the HDF5 that a library was linked with, which may be another one: Debian's netCDF
/// takes the serial HDF5, beside that of MPICH.
/// @param function  any of that library.
void make_zstd_known_to(const void* function);

}  // namespace iocomp::formats::h5
