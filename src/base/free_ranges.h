// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace iocomp {

/// The free parts of a range of bytes. The lowest are handed out first, so that memory once touched
/// is used again; neighbours that come back are joined. In units of pages.
class FreeRanges {
 public:
  static constexpr std::size_t page_bytes = 4096;

  FreeRanges() = default;
  /// @param capacity_bytes  whole pages.
  explicit FreeRanges(std::size_t capacity_bytes);

  /// The offset of `bytes`, rounded up to pages, that are taken from now on; nothing when no part
  /// is large enough.
  /// @pre bytes > 0
  [[nodiscard]] std::optional<std::size_t> take(std::size_t bytes);
  /// @param bytes  as taken.
  void give_back(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::size_t used_bytes() const noexcept { return used_; }
  [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_; }

 private:
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes, neighbours joined
};

/// Bytes, rounded up to pages.
constexpr std::size_t whole_pages(std::size_t bytes) noexcept {
  constexpr std::size_t page = FreeRanges::page_bytes;
  return (bytes + page - 1) / page * page;
}

}  // namespace iocomp
