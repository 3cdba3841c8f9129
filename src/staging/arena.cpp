// SPDX-License-Identifier: BSD-3-Clause
#include "staging/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/free_ranges.h"
#include "base/huge_memory.h"
#include "base/memory_domains.h"

namespace iocomp::staging {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error{ErrorCode::out_of_staging_memory, text};
}

}  // namespace

Lease::~Lease() {
  if (arena_ != nullptr) {
    arena_->give_back(bytes_);
  }
}

Arena::Arena(std::size_t capacity_bytes) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() - 2 * page_bytes;
  if (capacity_bytes > most) {
    refuse("asked for " + std::to_string(capacity_bytes) +
           " bytes of addresses for staging memory, " + std::to_string(most) + " is the most");
  }
  capacity_ = whole_pages(capacity_bytes);
  if (capacity_ > 0) {
    memory_ = HugeMemory{capacity_, "staging memory"};
    base_ = memory_.bytes().data();
    free_ = FreeRanges{capacity_};
  }
}

std::optional<Lease> Arena::try_take(std::size_t bytes) {
  if (bytes > capacity_) {
    refuse("asked for " + std::to_string(bytes) + " bytes of staging memory, capacity is " +
           std::to_string(capacity_));
  }
  const std::size_t taken = whole_pages(bytes);
  const std::scoped_lock lock{mutex_};
  if (taken == 0) {
    return Lease{*this, {}};
  }
  const auto offset = free_.take(taken);
  if (!offset) {
    return std::nullopt;
  }
  peak_ = std::max(peak_, free_.used_bytes());
  return Lease{*this, {base_ + *offset, bytes}};
}

void Arena::give_back(std::span<std::byte> bytes) noexcept {
  if (bytes.empty()) {
    return;
  }
  const std::scoped_lock lock{mutex_};
  free_.give_back(static_cast<std::size_t>(bytes.data() - base_), bytes.size());
}

void Arena::spread_over(std::span<const int> domains) {
  if (capacity_ > 0) {
    iocomp::spread_over(memory_.bytes(), domains);
  }
}

void Arena::touch(std::size_t from, std::size_t bytes) noexcept {
  const std::size_t begin = std::min(from / page_bytes * page_bytes, capacity_);
  const std::size_t end = begin + std::min(bytes, capacity_ - begin);
  if (begin == end) {
    return;
  }
#ifdef MADV_POPULATE_WRITE
  if (madvise(base_ + begin, end - begin, MADV_POPULATE_WRITE) == 0) {
    return;
  }
#endif
  // This atomic write changes nothing, because leases may be in use already.
  for (std::size_t offset = begin; offset < end; offset += page_bytes) {
    auto& byte = reinterpret_cast<unsigned char&>(base_[offset]);
    std::atomic_ref{byte}.fetch_or(0, std::memory_order_relaxed);
  }
}

std::size_t Arena::used_bytes() const noexcept {
  const std::scoped_lock lock{mutex_};
  return free_.used_bytes();
}

std::size_t Arena::peak_bytes() const noexcept {
  const std::scoped_lock lock{mutex_};
  return peak_;
}

}  // namespace iocomp::staging
