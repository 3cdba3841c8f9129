// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace iocomp::formats::frames {

/// Whether this build has Zstandard.
[[nodiscard]] bool has_zstd() noexcept;

/// One frame, with a checksum of what it holds.
/// @throws Error{storage_failure} with the library's cause.
[[nodiscard]] std::vector<std::byte> compressed(std::span<const std::byte> bytes, int level);

/// What a frame holds, which is exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged frame; Error{unsupported} without Zstandard.
void decompress(std::span<const std::byte> frame, std::span<std::byte> to);

}  // namespace iocomp::formats::frames
