// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace iocomp {

/// Private memory that begins at a border of huge pages and consists of them where the system gives
/// them; zeroed, and not touched before its first use. Move-only.
class HugeMemory {
 public:
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;

  HugeMemory() noexcept = default;
  /// @throws Error{out_of_staging_memory} naming `purpose` when the system refuses the addresses.
  HugeMemory(std::size_t bytes, const char* purpose);
  HugeMemory(HugeMemory&& other) noexcept : bytes_{std::exchange(other.bytes_, {})} {}
  HugeMemory& operator=(HugeMemory&& other) noexcept {
    HugeMemory taken{std::move(other)};  // frees what we held on the way out, not later
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;
  ~HugeMemory();

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace iocomp
