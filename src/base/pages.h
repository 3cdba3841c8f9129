// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace iocomp {

/// Bytes of private memory that lie in small pages, as /proc/self/smaps tells for the mappings that
/// the range touches; 0 where that cannot be read, and for memory that is shared. Takes about a
/// millisecond: not for every call.
[[nodiscard]] std::size_t small_page_bytes(std::span<const std::byte> range);

/// True if the system makes memory that processes share of huge pages, by itself or on request
/// (/sys/kernel/mm/transparent_hugepage/shmem_enabled).
[[nodiscard]] bool shared_memory_has_huge_pages();

}  // namespace iocomp
