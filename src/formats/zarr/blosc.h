// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compress/bench.h"
#include "formats/format.h"

namespace iocomp::formats::zarr {

// Chunks as the codec blosc of Zarr has them, with Zstandard inside: the bytes of elements are
// sorted, then compressed. The form: github.com/Blosc/c-blosc, README_CHUNK_FORMAT.rst.

/// The most bytes of elements that one can hold.
inline constexpr std::int64_t most_bytes_of_blosc = (std::int64_t{1} << 31) - (1 << 16);

/// Compress a chunk into `to`.
/// @pre compress::has_zstd(), and the chunk has no more than most_bytes_of_blosc.
/// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
void blosc(std::span<const std::byte> chunk, std::size_t element_bytes,
           const Compression& compression, compress::Bench& bench, std::vector<std::byte>& to);

/// Decompress a chunk, whose contents are exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged one; Error{unsupported} for one that Blosc has
/// compressed by another library than Zstandard, or whose bits are sorted.
void unblosc(std::span<const std::byte> stored, std::span<std::byte> to);

}  // namespace iocomp::formats::zarr
