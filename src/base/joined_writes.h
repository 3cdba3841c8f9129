// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace iocomp {

/// Writes into a file: those that follow one another are put together, and whole pages of long ones
/// go past the page cache. The system slows down whoever fills its cache faster than the disk
/// takes it.
class JoinedWrites {
 public:
  /// @param file, path  as in write_plainly; they outlive this.
  /// @param bypasses_cache  if the file system can; no page may have bytes of two writers then.
  JoinedWrites(const Descriptor& file, const std::string& path, bool bypasses_cache);

  /// @throws Error{storage_failure}, also of those before.
  void add(std::int64_t offset, std::span<const std::byte> bytes);
  /// Write the rest, and let the disk begin with all. @throws Error{storage_failure}.
  void finish();

 private:
  [[nodiscard]] std::int64_t end() const noexcept { return begin_ + std::ssize(joined_); }
  void write_joined();
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  void write_to_cache(std::int64_t offset, std::span<const std::byte> bytes);
  std::size_t write_directly(std::int64_t offset, std::span<const std::byte> pages);
  void let_disk_begin() noexcept;

  const Descriptor& file_;
  const std::string& path_;
  Descriptor direct_;  // not open where pages go through the cache
  std::unique_ptr<std::byte[]> memory_;
  std::span<std::byte> room_;          // its whole pages
  std::int64_t begin_ = 0;             // of what is joined
  std::span<const std::byte> joined_;  // in the room
  std::int64_t first_in_cache_ = 0;    // of bytes that the disk has not begun with
  std::int64_t end_in_cache_ = 0;
};

}  // namespace iocomp
