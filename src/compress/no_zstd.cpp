// SPDX-License-Identifier: BSD-3-Clause
// This source is for builds without Zstandard.
#include <cstddef>
#include <optional>
#include <span>

#include "base/error.h"
#include "compress/bench.h"
#include "compress/zstd.h"

namespace iocomp::compress {
namespace {

constexpr const char* no_libzstd = "this iocomp was built without libzstd";

}  // namespace

bool has_zstd() noexcept { return false; }

std::span<const std::byte> pack_zstd(std::span<const std::byte> /*bytes*/, int /*level*/,
                                     bool /*has_checksum*/, Bench& /*bench*/) {
  throw Error{ErrorCode::unsupported, no_libzstd};
}

std::optional<std::size_t> unpacked_bytes(std::span<const std::byte> /*frame*/) noexcept {
  return std::nullopt;
}

void unpack_zstd(std::span<const std::byte> /*frame*/, std::span<std::byte> /*to*/) {
  throw Error{ErrorCode::unsupported, no_libzstd};
}

}  // namespace iocomp::compress
