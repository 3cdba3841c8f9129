// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "array/memory_box.h"

namespace iocomp::transport {

/// Read the memory of another process. @return 0, or the errno of the kernel's refusal; then the
/// contents of `memory` are of no use.
[[nodiscard]] int pull(pid_t process, std::uint64_t address, std::span<std::byte> memory) noexcept;

/// The same for elements from `first` on, in the packed order of a box in an array at `address`:
/// whole elements until `memory` is full.
[[nodiscard]] int pull_strided(pid_t process, std::uint64_t address, const array::MemoryBox& box,
                               std::size_t element_bytes, std::int64_t first,
                               std::span<std::byte> memory) noexcept;

}  // namespace iocomp::transport
