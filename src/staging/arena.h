// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/free_ranges.h"
#include "base/huge_memory.h"

namespace iocomp::staging {

class Arena;

/// Some bytes of an arena. Gives them back when destroyed. Move-only.
class Lease {
 public:
  Lease() noexcept = default;
  Lease(Lease&& other) noexcept
      : arena_{std::exchange(other.arena_, nullptr)}, bytes_{std::exchange(other.bytes_, {})} {}
  Lease& operator=(Lease&& other) noexcept {
    Lease taken{std::move(other)};  // frees what we held on the way out, not later
    std::swap(arena_, taken.arena_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  friend class Arena;
  Lease(Arena& arena, std::span<std::byte> bytes) noexcept : arena_{&arena}, bytes_{bytes} {}

  Arena* arena_ = nullptr;
  std::span<std::byte> bytes_;
};

/// The staging memory of one server: a fixed range of addresses, handed out in pages. The lowest
/// addresses go first, so that pages once touched are used again. It has private huge pages if the
/// system gives them. Thread-safe. Outlives its leases.
class Arena {
 public:
  static constexpr std::size_t page_bytes = FreeRanges::page_bytes;

  /// Reserve (not touch) `capacity_bytes`, rounded up to pages.
  /// @throws Error{out_of_staging_memory} when the system refuses the address range.
  explicit Arena(std::size_t capacity_bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() = default;

  /// Take `bytes` of page-aligned memory now, or nothing. The lease has exactly that size, but uses
  /// up whole pages.
  /// @throws Error{out_of_staging_memory} "asked for 101 bytes of staging memory, capacity is 100"
  /// if it can never fit.
  [[nodiscard]] std::optional<Lease> try_take(std::size_t bytes);

  /// Take pages that are not touched yet from these NUMA domains in turn: see iocomp::spread_over.
  /// @throws Error{unsupported} if the system does not place memory.
  void spread_over(std::span<const int> domains);

  /// Make the pages of `bytes` exist before they are needed, beginning with the page of the byte
  /// `from`. Their contents stay.
  void touch(std::size_t from, std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t used_bytes() const noexcept;
  /// The most that was ever leased at once.
  [[nodiscard]] std::size_t peak_bytes() const noexcept;

 private:
  friend class Lease;
  void give_back(std::span<std::byte> bytes) noexcept;

  HugeMemory memory_;
  std::byte* base_ = nullptr;  // start of memory_
  std::size_t capacity_ = 0;
  std::size_t peak_ = 0;  // guarded by mutex_, like the members below
  FreeRanges free_;
  mutable std::mutex mutex_;
};

}  // namespace iocomp::staging
