// SPDX-License-Identifier: BSD-3-Clause
// This source is for builds without zlib.
#include <cstddef>
#include <span>

#include "base/error.h"
#include "compress/bench.h"
#include "compress/deflate.h"

namespace iocomp::compress {
namespace {

constexpr const char* no_zlib = "this iocomp was built without zlib";

}  // namespace

bool has_deflate() noexcept { return false; }

std::span<const std::byte> pack_deflate(std::span<const std::byte> /*bytes*/, int /*level*/,
                                        Wrapping /*wrapping*/, Bench& /*bench*/) {
  throw Error{ErrorCode::unsupported, no_zlib};
}

void unpack_gzip(std::span<const std::byte> /*packed*/, std::span<std::byte> /*to*/) {
  throw Error{ErrorCode::unsupported, no_zlib};
}

}  // namespace iocomp::compress
