// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>

#include "base/huge_memory.h"
#include "client/link.h"
#include "config/settings.h"

namespace iocomp::client {

/// Memory for the program's arrays. It is shared with the servers of the node if that is worth it.
class ArrayMemory {
 public:
  ArrayMemory(const config::Settings& settings, Link& link) : settings_{settings}, link_{link} {}

  /// Memory that puts read in place if that is possible; zeroed.
  /// @throws Error{out_of_staging_memory}.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// @throws Error{invalid_argument} if `allocate` did not return this memory, or it was freed.
  void free(void* memory);

 private:
  const config::Settings& settings_;
  Link& link_;
  std::map<const void*, HugeMemory> own_;  // memory that is not shared
};

}  // namespace iocomp::client
