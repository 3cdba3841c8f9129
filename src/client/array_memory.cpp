// SPDX-License-Identifier: BSD-3-Clause
#include "client/array_memory.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/huge_memory.h"
#include "base/pages.h"
#include "client/link.h"
#include "config/settings.h"

namespace iocomp::client {

// Huge pages are worth more than shared memory in small pages, which slows the program's own loops.
// They help the program, the kernel, and a server that pulls. So `auto` shares only if it can have
// both.
void* ArrayMemory::allocate(std::size_t bytes) {
  const bool shares = settings_.text("test.way") == "in-place" || shared_memory_has_huge_pages();
  if (shares) {
    const auto shared = link_.export_memory(std::max<std::size_t>(bytes, 1));
    if (!shared.empty()) {
      return shared.data();
    }
  }
  HugeMemory memory{std::max<std::size_t>(bytes, 1), "an array"};
  std::byte* const first = memory.bytes().data();
  own_.emplace(first, std::move(memory));
  return first;
}

void ArrayMemory::free(void* memory) {
  if (!link_.withdraw_memory(static_cast<const std::byte*>(memory)) && own_.erase(memory) == 0) {
    throw Error{ErrorCode::invalid_argument,
                "free of memory that iocomp_alloc did not return, or that was freed already"};
  }
}

}  // namespace iocomp::client
