// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "compress/bench.h"

namespace iocomp::compress {

/// True if this build has zlib.
[[nodiscard]] bool has_deflate() noexcept;

/// The form of a deflated stream: HDF5's filter makes zlib's, Zarr's codec gzip's.
enum class Wrapping { zlib, gzip };

/// Compress, on the bench.
/// @param level  1 to 9, or 0 for none.
/// @throws Error{storage_failure} with the library's cause; Error{unsupported} without zlib;
/// std::bad_alloc.
[[nodiscard]] std::span<const std::byte> pack_deflate(std::span<const std::byte> bytes, int level,
                                                      Wrapping wrapping, Bench& bench);

/// Decompress what gzip has wrapped. Its contents are exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged one; Error{unsupported} without zlib.
void unpack_gzip(std::span<const std::byte> packed, std::span<std::byte> to);

}  // namespace iocomp::compress
