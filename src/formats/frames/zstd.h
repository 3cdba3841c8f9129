// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/scratch_memory.h"
#include "formats/format.h"

namespace iocomp::formats::frames {

/// True if this build has Zstandard.
[[nodiscard]] bool has_zstd() noexcept;

/// The memory and state with which one thread makes one frame after the other.
struct FrameBench {
  ScratchMemory shuffled;
  ScratchMemory frame;
  std::shared_ptr<void> tables;  ///< of Zstandard
};

/// One frame, with a checksum of what it holds. It lies on the bench until that is used again.
/// @pre compression.is_on()
/// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
[[nodiscard]] std::span<const std::byte> frame_of(std::span<const std::byte> bytes,
                                                  std::size_t element_bytes,
                                                  const Compression& compression,
                                                  FrameBench& bench);

/// Decompresses a frame, whose contents are exactly as long as `to`.
/// @throws Error{storage_failure} for a damaged frame; Error{unsupported} without Zstandard.
void decompress(std::span<const std::byte> frame, std::span<std::byte> to);

}  // namespace iocomp::formats::frames
