// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/descriptor.h"

namespace iocomp::command {

/// A file without a name in a directory: nothing is left of it, however the process ends. Threads
/// may read and write different parts at the same time.
class ScratchFile {
 public:
  /// @throws Error{storage_failure} with the operating system's text.
  explicit ScratchFile(const std::string& directory);

  [[nodiscard]] bool has_direct() const noexcept { return direct_.is_open(); }
  /// Drop its contents, and its pages in the page cache.
  void clear();
  /// Make room without writing.
  void allocate(std::size_t bytes);
  /// Wait until everything is on the disk; then cached pages may be dropped.
  void settle(bool drop_cache);
  /// @param direct  past the page cache. @throws Error{storage_failure}
  void write(std::int64_t offset, std::span<const std::byte> bytes, bool direct) const;
  void read(std::int64_t offset, std::span<std::byte> bytes, bool direct) const;
  /// Describes the pages of these bytes in the page cache that lie elsewhere.
  /// @pre offset is a multiple of the page size.
  [[nodiscard]] std::string misplaced(std::int64_t offset, std::size_t bytes,
                                      std::optional<int> domain) const;

 private:
  void check(int result, const char* what) const;

  std::string path_;  // as long as it had one
  Descriptor file_;
  Descriptor direct_;  // not open where the file system has no O_DIRECT
};

}  // namespace iocomp::command
