// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/target.h"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

// The address sanitizer has this. Without it memory has no limit.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void*, std::size_t),
                                              void (*released)(const volatile void*))
    __attribute__((weak));
std::size_t __sanitizer_get_allocated_size(const volatile void* memory) __attribute__((weak));
}

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> in_use{0};
std::atomic<std::size_t> limit{no_limit};

void allocated(const volatile void* /*memory*/, std::size_t bytes) {
  in_use += bytes;
  const std::size_t most = limit;
  // Memory from before the hooks may have been released: then it is below zero.
  const auto now = static_cast<std::ptrdiff_t>(in_use.load());
  if (most != no_limit && now > static_cast<std::ptrdiff_t>(most)) {
    limit = no_limit;
    iocomp::fuzz::found("more memory than its input allows");
  }
}

void released(const volatile void* memory) {
  if (memory != nullptr) {
    in_use -= __sanitizer_get_allocated_size(memory);
  }
}

}  // namespace

namespace iocomp::fuzz {

void found(const std::string& story) {
  (void)std::fprintf(stderr, "FOUND: %s\n", story.c_str());
  std::abort();
}

MemoryLimit::MemoryLimit(std::size_t bytes) noexcept {
  if (__sanitizer_install_malloc_and_free_hooks == nullptr) {
    return;
  }
  [[maybe_unused]] static const int hooks =
      __sanitizer_install_malloc_and_free_hooks(&allocated, &released);
  limit = in_use + bytes;
}

MemoryLimit::~MemoryLimit() { limit = no_limit; }

}  // namespace iocomp::fuzz
