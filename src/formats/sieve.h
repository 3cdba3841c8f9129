// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace iocomp::formats {

/// Bytes that follow one another in the file and in memory.
struct Wanted {
  std::int64_t offset = 0;  ///< in the file
  std::size_t bytes = 0;
  std::byte* to = nullptr;

  [[nodiscard]] std::int64_t end() const noexcept {
    return offset + static_cast<std::int64_t>(bytes);
  }
};

/// Limits for reading wanted bytes together with the unwanted bytes between them: a request costs
/// as much time as many bytes do.
struct SieveLimits {
  std::size_t span_bytes = std::size_t{8} << 20;     ///< the most that is read at once
  std::size_t direct_bytes = std::size_t{64} << 10;  ///< what is as long is read on its own
  std::size_t gap_bytes = std::size_t{64} << 10;     ///< the most that is read in vain in a row
};

/// Collects neighbours until a group is complete. Wanted bytes come in ascending order of offset
/// and do not overlap.
class Sieve {
 public:
  explicit Sieve(const SieveLimits& limits = {}) noexcept : limits_{limits} {}

  /// True if `next` may join the group; else the group has to be read first.
  [[nodiscard]] bool takes(const Wanted& next) const noexcept;
  /// @pre takes(next), or the group is empty
  void add(const Wanted& next) { group_.push_back(next); }
  void clear() noexcept { group_.clear(); }

  [[nodiscard]] const std::vector<Wanted>& group() const noexcept { return group_; }
  /// The bytes from the first to the last of the group.
  [[nodiscard]] std::size_t span_bytes() const noexcept {
    return static_cast<std::size_t>(group_.back().end() - group_.front().offset);
  }

 private:
  SieveLimits limits_;
  std::vector<Wanted> group_;
};

}  // namespace iocomp::formats
