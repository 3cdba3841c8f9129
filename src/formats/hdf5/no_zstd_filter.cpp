// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/scratch_memory.h"
#include "formats/hdf5/zstd_filter.h"

// This source is for builds without libzstd.
namespace iocomp::formats::h5 {

bool has_zstd() noexcept { return false; }

void make_zstd_known() {}

void make_zstd_known_to(const void* /*function*/) {}

std::span<const std::byte> pack_zstd(std::span<const std::byte> /*bytes*/, int /*level*/,
                                     ScratchMemory& /*room*/, std::shared_ptr<void>& /*tables*/) {
  throw Error{ErrorCode::unsupported, "this build of iocomp has no Zstandard"};
}

}  // namespace iocomp::formats::h5
