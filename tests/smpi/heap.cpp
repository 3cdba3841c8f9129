// SPDX-License-Identifier: BSD-3-Clause
// Counts what the library has taken from the heap, by rank: operator new in front of the C++
// library's (LD_PRELOAD). A block counts where code of the library has asked for it, its formats
// included: not SimGrid's, not the client's. Strings that the C++ library grows by itself are left
// out, and so is staging memory, which is mapped.
#include <dlfcn.h>
#include <simgrid/actor.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "counts.h"

namespace {

struct Use {
  std::size_t now = 0;
  std::size_t most = 0;
};
constexpr std::size_t most_actors = 1U << 16U;

/// By actor of the simulation; threads are with the rank that has made them.
std::array<Use, most_actors>& uses() {
  static std::array<Use, most_actors> all;
  return all;
}

struct alignas(std::max_align_t) Head {
  std::size_t bytes = 0;
  Use* use = nullptr;  ///< of the rank that pays; none for what is not the library's
};

/// True if an address is code of the library. Allocates nothing.
bool is_of_library(void* address) {
  struct Known {
    void* address;
    bool is;
  };
  constexpr std::size_t places = 1U << 14U;
  static std::array<Known, places> known;
  auto at = reinterpret_cast<std::uintptr_t>(address) / 2 % places;
  if (known[at].address != address) {
    Dl_info about{};
    const bool is = dladdr(address, &about) != 0 && about.dli_fname != nullptr &&
                    std::strstr(about.dli_fname, "libiocomp") != nullptr;
    known[at] = {address, is};
  }
  return known[at].is;
}

Use* use_of_this() {
  const aid_t parent = sg_actor_self_get_ppid();
  const aid_t own = sg_actor_self_get_pid();
  const auto actor = static_cast<std::size_t>(std::max<aid_t>(parent > 0 ? parent : own, 0));
  return actor == 0 || actor >= most_actors ? nullptr : &uses()[actor];
}

void* taken(std::size_t bytes, void* caller) {
  void* const memory = std::malloc(sizeof(Head) + bytes);
  if (memory == nullptr) {
    return nullptr;
  }
  auto* head = new (memory) Head{bytes, is_of_library(caller) ? use_of_this() : nullptr};
  if (head->use != nullptr) {
    head->use->now += bytes;
    head->use->most = std::max(head->use->most, head->use->now);
  }
  return head + 1;
}

void given_back(void* block) noexcept {
  if (block == nullptr) {
    return;
  }
  Head* const head = static_cast<Head*>(block) - 1;
  if (head->use != nullptr) {
    head->use->now -= head->bytes;
  }
  std::free(head);
}

void* taken_or_thrown(std::size_t bytes, void* caller) {
  void* const block = taken(bytes, caller);
  if (block == nullptr) {
    throw std::bad_alloc{};
  }
  return block;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return taken_or_thrown(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes) {
  return taken_or_thrown(bytes, __builtin_return_address(0));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*no throw*/) noexcept {
  return taken(bytes, __builtin_return_address(0));
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*no throw*/) noexcept {
  return taken(bytes, __builtin_return_address(0));
}
void operator delete(void* block) noexcept { given_back(block); }
void operator delete[](void* block) noexcept { given_back(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { given_back(block); }
void operator delete[](void* block, std::size_t /*bytes*/) noexcept { given_back(block); }
void operator delete(void* block, const std::nothrow_t& /*no throw*/) noexcept {
  given_back(block);
}
void operator delete[](void* block, const std::nothrow_t& /*no throw*/) noexcept {
  given_back(block);
}

double smpi_heap_of(int rank) {
  const auto actor = static_cast<std::size_t>(smpi_counts_of(rank)->actor);
  return static_cast<double>(uses()[actor].most);
}
