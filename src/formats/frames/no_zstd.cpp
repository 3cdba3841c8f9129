// SPDX-License-Identifier: BSD-3-Clause
// Where iocomp was built without Zstandard.
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/frames/zstd.h"

namespace iocomp::formats::frames {

bool has_zstd() noexcept { return false; }

std::vector<std::byte> compressed(std::span<const std::byte> /*bytes*/, int /*level*/) {
  throw Error{ErrorCode::unsupported, "this iocomp was built without libzstd"};
}

void decompress(std::span<const std::byte> /*frame*/, std::span<std::byte> /*to*/) {
  throw Error{ErrorCode::unsupported, "this iocomp was built without libzstd"};
}

}  // namespace iocomp::formats::frames
