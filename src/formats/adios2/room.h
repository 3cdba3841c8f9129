// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

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

}  // namespace iocomp::formats::bp
