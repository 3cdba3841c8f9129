// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace iocomp::disk {

/// A range of a file.
struct FileRange {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;

  friend bool operator==(const FileRange&, const FileRange&) = default;
};

/// Gathers writes through the page cache until there is enough to make starting their flush worth a
/// call: small writes would otherwise put the same pages on the disk again and again. Thread-safe.
class FlushWindow {
 public:
  /// @param bytes  how much is gathered.
  explicit FlushWindow(std::int64_t bytes) noexcept : enough_{bytes} {}

  /// Note a write; the range to flush now, if any: it holds all that was noted and not returned
  /// yet.
  [[nodiscard]] std::optional<FileRange> add(const FileRange& written) noexcept;

 private:
  std::int64_t enough_;
  std::mutex mutex_;
  std::int64_t begin_ = 0;  // guarded by mutex_, like the rest
  std::int64_t end_ = 0;
  std::int64_t gathered_ = 0;
};

}  // namespace iocomp::disk
