// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "compress/bench.h"
#include "compress/shuffle.h"
#include "compress/zstd.h"
#include "formats/format.h"

namespace iocomp::formats::frames {

/// One frame of Zstandard, with a checksum of what it holds, on the bench.
/// @pre compression.is_on()
/// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
[[nodiscard]] inline std::span<const std::byte> frame_of(std::span<const std::byte> bytes,
                                                         std::size_t element_bytes,
                                                         const Compression& compression,
                                                         compress::Bench& bench) {
  if (compression.shuffle) {
    bytes = compress::shuffled(bytes, element_bytes, bench);
  }
  return compress::pack_zstd(bytes, compression.level, true, bench);
}

}  // namespace iocomp::formats::frames
