// SPDX-License-Identifier: BSD-3-Clause
#include "base/huge_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"

namespace iocomp {

HugeMemory::HugeMemory(std::size_t bytes, const char* purpose) {
  if (bytes == 0) {
    return;
  }
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() - 2 * page_bytes;
  const auto refuse = [&](const std::string& why) {
    throw Error{ErrorCode::out_of_staging_memory, "the system refuses " + std::to_string(bytes) +
                                                      " bytes of addresses for " + purpose + ": " +
                                                      why};
  };
  if (bytes > most) {
    refuse(std::to_string(most) + " is the most");
  }
  constexpr std::size_t small_page_bytes = 4096;
  const std::size_t whole = (bytes + small_page_bytes - 1) / small_page_bytes * small_page_bytes;
  const std::size_t with_slack = whole + page_bytes;
  void* const range = mmap(nullptr, with_slack, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    refuse(std::strerror(errno));
  }
  auto* const first = static_cast<std::byte*>(range);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(first) % page_bytes;
  const std::size_t before = past == 0 ? 0 : page_bytes - past;
  if (before > 0) {
    munmap(first, before);
  }
  munmap(first + before + whole, with_slack - before - whole);
  madvise(first + before, bytes, MADV_HUGEPAGE);  // where it is refused there are small pages
  bytes_ = {first + before, bytes};
}

HugeMemory::~HugeMemory() {
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
  }
}

}  // namespace iocomp
