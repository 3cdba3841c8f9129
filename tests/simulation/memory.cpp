// SPDX-License-Identifier: BSD-3-Clause
// `new` and `delete` of the whole program, for one thread of the system: a tenth of the time of a
// history is theirs. Memory of one size lies together, and is used again before any other.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#ifndef __SANITIZE_ADDRESS__
namespace {

constexpr std::size_t grain_bytes = 16;
constexpr std::size_t largest_bytes = 1024;  // what is larger is malloc's
constexpr std::size_t slab_bytes = 64 << 10;
constexpr std::size_t slabs = 1 << 17;

struct Free {
  Free* next;
};

std::array<Free*, largest_bytes / grain_bytes + 1> free_lists{};
std::array<std::uint8_t, slabs> class_of_slab{};
std::byte* region = nullptr;
std::size_t used_slabs = 0;

__attribute__((noinline)) Free* refill(std::size_t size_class) {
  if (region == nullptr) {
    void* const memory = mmap(nullptr, slabs * slab_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc{};
    }
    region = static_cast<std::byte*>(memory);
  }
  if (used_slabs == slabs) {
    throw std::bad_alloc{};
  }
  class_of_slab[used_slabs] = static_cast<std::uint8_t>(size_class);
  std::byte* const slab = region + used_slabs++ * slab_bytes;
  const std::size_t bytes = size_class * grain_bytes;
  Free* first = nullptr;
  for (std::size_t at = slab_bytes / bytes * bytes; at >= bytes; at -= bytes) {
    first = new (slab + at - bytes) Free{first};
  }
  return first;
}

void release(void* memory) noexcept {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(region);
  if (region == nullptr || offset >= slabs * slab_bytes) {
    std::free(memory);
    return;
  }
  Free*& list = free_lists[class_of_slab[offset / slab_bytes]];
  list = new (memory) Free{list};
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes <= largest_bytes) {
    const std::size_t size_class = bytes == 0 ? 1 : (bytes + grain_bytes - 1) / grain_bytes;
    Free*& list = free_lists[size_class];
    Free* const taken = list != nullptr ? list : refill(size_class);
    list = taken->next;
    return taken;
  }
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  return memory;
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { release(memory); }
#endif
