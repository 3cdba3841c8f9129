// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/extent.h"

namespace iocomp::formats::zarr {

/// A chunk that a shard does not have.
inline constexpr Extent no_chunk{-1, -1};

/// Bytes of the index of a shard of so many chunks: two numbers for each, and the checksum.
[[nodiscard]] constexpr std::int64_t index_bytes(std::int64_t chunks) noexcept {
  return 16 * chunks + 4;
}

/// The index of a shard: where its chunks lie in the file, in row-major order.
[[nodiscard]] std::vector<std::byte> index_of(std::span<const Extent> chunks);

/// The other way. @pre as many bytes as an index has.
/// @throws Error{storage_failure} where its checksum does not fit, or a chunk is not in the file.
[[nodiscard]] std::vector<Extent> chunks_from(std::span<const std::byte> index,
                                              std::int64_t file_bytes);

}  // namespace iocomp::formats::zarr
