// SPDX-License-Identifier: BSD-3-Clause
// This source is for builds without Zstandard.
#include <cstddef>
#include <span>

#include "base/error.h"
#include "formats/format.h"
#include "formats/frames/zstd.h"

namespace iocomp::formats::frames {

bool has_zstd() noexcept { return false; }

std::span<const std::byte> frame_of(std::span<const std::byte> /*bytes*/,
                                    std::size_t /*element_bytes*/,
                                    const Compression& /*compression*/, FrameBench& /*bench*/) {
  throw Error{ErrorCode::unsupported, "this iocomp was built without libzstd"};
}

void decompress(std::span<const std::byte> /*frame*/, std::span<std::byte> /*to*/) {
  throw Error{ErrorCode::unsupported, "this iocomp was built without libzstd"};
}

}  // namespace iocomp::formats::frames
