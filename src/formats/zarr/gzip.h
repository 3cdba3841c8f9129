// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace iocomp::formats::zarr {

/// True if this build has zlib.
[[nodiscard]] bool has_gzip() noexcept;

/// Compress a chunk as the codec gzip does, into `to`.
/// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
void gzip(std::span<const std::byte> chunk, int level, std::vector<std::byte>& to);

/// Decompress a chunk, whose contents are exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged one; Error{unsupported} without zlib.
void gunzip(std::span<const std::byte> stored, std::span<std::byte> to);

}  // namespace iocomp::formats::zarr
