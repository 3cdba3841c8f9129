// SPDX-License-Identifier: BSD-3-Clause
#include "common/huge_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace iocomp::apps {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

}  // namespace

HugeMemory::HugeMemory(std::size_t bytes) : mapped_bytes_{rounded_up(bytes) + huge_page_bytes} {
  mapping_ =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc{};
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  begin_ = static_cast<std::byte*>(mapping_) + (rounded_up(address) - address);
  madvise(begin_, rounded_up(bytes), MADV_HUGEPAGE);
  std::memset(begin_, 0, bytes);
}

HugeMemory::~HugeMemory() { munmap(mapping_, mapped_bytes_); }

void warm_free_memory(std::size_t bytes) {
  if (bytes > 0) const HugeMemory touched{bytes};
}

}  // namespace iocomp::apps
