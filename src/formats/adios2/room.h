// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"

namespace iocomp::formats::bp {

/// Room on the file system of `folder` that is set aside until `bytes` are written: a file without
/// a name.
class Room {
 public:
  /// Does not throw: see `error`.
  Room(const Descriptor& folder, std::int64_t bytes) noexcept;
  /// 0, or the errno that says why there is no such room.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  Descriptor file_;
  int error_ = 0;
};

/// 0, or EFBIG if a file that gets so many bytes more may become longer than this process may make
/// one (`ulimit -f`).
/// @param path  of the file, or of the folder with the files, of which the longest one counts.
[[nodiscard]] int error_of_limit(const std::string& path, std::int64_t bytes) noexcept;

}  // namespace iocomp::formats::bp
