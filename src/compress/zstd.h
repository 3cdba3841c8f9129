// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "compress/bench.h"

namespace iocomp::compress {

/// True if this build has Zstandard.
[[nodiscard]] bool has_zstd() noexcept;

/// Compress into one frame, on the bench, with or without a checksum of what it holds.
/// @throws Error{storage_failure} with the library's cause; Error{unsupported} without Zstandard;
/// std::bad_alloc.
[[nodiscard]] std::span<const std::byte> pack_zstd(std::span<const std::byte> bytes, int level,
                                                   bool has_checksum, Bench& bench);

/// The bytes that a frame holds, if it says so.
[[nodiscard]] std::optional<std::size_t> unpacked_bytes(std::span<const std::byte> frame) noexcept;
/// Decompress a frame, whose contents are exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged frame; Error{unsupported} without Zstandard.
void unpack_zstd(std::span<const std::byte> frame, std::span<std::byte> to);

}  // namespace iocomp::compress
