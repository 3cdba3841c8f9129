// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gpu/stand_in.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace {

struct Allocation {
  std::byte* real = nullptr;  // the same pages, which can be touched
  std::size_t bytes = 0;
  int kind = 0;
};

struct Copy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
};

std::map<std::uintptr_t, Allocation> allocations;
std::map<std::uintptr_t, std::size_t> pinned;
std::vector<Copy> begun;
bool fails = false;
std::size_t copied = 0;
int left = 0;

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// The part of an allocation from an address on; no bytes for other memory.
std::pair<std::byte*, std::size_t> part_of(const void* address, std::size_t bytes) {
  auto found = allocations.upper_bound(number(address));
  if (found == allocations.begin()) {
    return {};
  }
  --found;
  const std::size_t offset = number(address) - found->first;
  return offset + bytes <= found->second.bytes
             ? std::pair{found->second.real + offset, found->second.bytes - offset}
             : std::pair<std::byte*, std::size_t>{};
}

}  // namespace

void* stand_in_allocate(std::size_t bytes, int kind) {
  const int pages = memfd_create("stand-in for a GPU", 0);
  if (pages < 0 || ftruncate(pages, static_cast<off_t>(bytes)) != 0) {
    std::abort();
  }
  void* real = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pages, 0);
  void* seen = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, pages, 0);
  close(pages);
  if (real == MAP_FAILED || seen == MAP_FAILED) {
    std::abort();
  }
  allocations[number(seen)] = {static_cast<std::byte*>(real), bytes, kind};
  return seen;
}

void stand_in_free(void* memory) {
  const auto found = allocations.find(number(memory));
  munmap(found->second.real, found->second.bytes);
  munmap(memory, found->second.bytes);
  allocations.erase(found);
}

void stand_in_set(void* to, const void* from, std::size_t bytes) {
  const auto part = part_of(to, bytes);
  if (part.second < bytes) {
    std::abort();
  }
  std::memcpy(part.first, from, bytes);
}

void stand_in_fail(int all) { fails = all != 0; }
std::size_t stand_in_copied() { return copied; }
int stand_in_left() { return left + static_cast<int>(pinned.size()); }

namespace stand_in {

int kind_of(const void* address) {
  auto found = allocations.upper_bound(number(address));
  if (found == allocations.begin()) {
    return 0;
  }
  --found;
  return number(address) - found->first < found->second.bytes ? found->second.kind : 0;
}

void* pin(std::size_t bytes) {
  void* memory = std::calloc(1, bytes);
  pinned[number(memory)] = bytes;
  return memory;
}

bool unpin(void* memory) {
  const bool was_pinned = pinned.erase(number(memory)) == 1;
  std::free(memory);
  return was_pinned;
}

void* make() {
  ++left;
  return &left;
}

void destroy(void* /*thing*/) { --left; }

bool begin_copy(void* to, const void* from, std::size_t bytes) {
  const auto [real, there] = part_of(from, bytes);
  const auto room = pinned.find(number(to));
  if (fails || there < bytes || room == pinned.end() || room->second < bytes) {
    return false;
  }
  begun.push_back({static_cast<std::byte*>(to), real, bytes});
  return true;
}

void end_copies() {
  for (const Copy& copy : begun) {
    std::memcpy(copy.to, copy.from, copy.bytes);
    copied += copy.bytes;
  }
  begun.clear();
}

}  // namespace stand_in
