// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace iocomp::formats::zarr {

/// The checksum of Zarr's codec "crc32c" (RFC 3720, B.4).
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

}  // namespace iocomp::formats::zarr
