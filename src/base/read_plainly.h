// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace iocomp {

/// Read bytes, all of which the file has.
/// @throws Error{storage_failure} with the errno text, or that it ends early.
void read_plainly(const Descriptor& file, std::int64_t offset, std::span<std::byte> bytes,
                  const std::string& path);

}  // namespace iocomp
