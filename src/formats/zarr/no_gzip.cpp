// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "formats/zarr/gzip.h"

namespace iocomp::formats::zarr {
namespace {

constexpr const char* not_here = "this iocomp was built without zlib";

}  // namespace

bool has_gzip() noexcept { return false; }

void gzip(std::span<const std::byte> /*chunk*/, int /*level*/, std::vector<std::byte>& /*to*/) {
  throw Error{ErrorCode::unsupported, not_here};
}

void gunzip(std::span<const std::byte> /*stored*/, std::span<std::byte> /*to*/) {
  throw Error{ErrorCode::unsupported, not_here};
}

}  // namespace iocomp::formats::zarr
