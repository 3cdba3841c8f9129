// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace iocomp {

/// Writes that follow one another in a file: short ones are put together, long ones go as they are.
class JoinedWrites {
 public:
  /// @param file, path  as in write_plainly; they outlive this.
  JoinedWrites(const Descriptor& file, std::int64_t offset, const std::string& path)
      : file_{file}, path_{path}, begin_{offset}, written_{offset} {}

  /// @throws Error{storage_failure}, also of those before.
  void add(std::span<const std::byte> bytes);
  /// Write the rest, and let the disk begin with all. @throws Error{storage_failure}.
  void finish();
  /// The offset of the next write.
  [[nodiscard]] std::int64_t end() const noexcept { return written_ + std::ssize(joined_); }

 private:
  void write(std::span<const std::byte> bytes);

  const Descriptor& file_;
  const std::string& path_;
  std::int64_t begin_;
  std::int64_t written_;
  std::vector<std::byte> joined_;
};

}  // namespace iocomp
