// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace iocomp {

/// Write bytes without the library that could not: MPI does not say why a write was short, the
/// system does. Where this succeeds there is nothing to tell.
/// @throws Error{storage_failure} with the errno text.
void write_plainly(const Descriptor& file, std::int64_t offset, std::span<const std::byte> bytes,
                   const std::string& path);

/// Let the disk begin with the bytes written there, so that the next fsync has less to do. A hint:
/// what fails is told by that fsync.
void begin_flush(const Descriptor& file, std::int64_t offset, std::int64_t bytes) noexcept;

}  // namespace iocomp
