// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/open_folder.h"

namespace iocomp::formats::bp {

/// Room on the file system of `folder` that is set aside until `bytes` are written: a file without
/// a name.
class Room {
 public:
  /// Does not throw: see `error`.
  Room(const OpenFolder& folder, std::int64_t bytes) noexcept;
  /// 0, or the errno that says why there is no such room.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  Descriptor file_;
  int error_ = 0;
};

/// 0, or EFBIG if a file that gets so many bytes more may become longer than this process may make
/// one (`ulimit -f`).
/// @param name  of the file in the folder. Empty: the longest file in it counts.
/// @throws Error{storage_failure}.
[[nodiscard]] int error_of_limit(const OpenFolder& folder, const std::string& name,
                                 std::int64_t bytes);

}  // namespace iocomp::formats::bp
