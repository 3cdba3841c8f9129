// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "device/driver.h"

namespace iocomp::device {

/// Values in the memory of a GPU, which are read through a window: from where they are read on, as
/// many as fit come at once, fewer where most of them are not read. The values stay as they are
/// while this lives, and so does the window, for nobody else.
class GpuValues {
 public:
  /// @param first  where offsets begin. Nothing but the bytes from `begin` to `end` is touched.
  /// @throws Error{invalid_argument} where the driver cannot read the first of them.
  GpuValues(Window& window, const std::byte* first, std::size_t begin, std::size_t end);
  GpuValues(const GpuValues&) = delete;
  GpuValues& operator=(const GpuValues&) = delete;

  /// Copy bytes from an offset on.
  /// @throws Error{invalid_argument} as above.
  void read(std::size_t offset, std::span<std::byte> to);

 private:
  void fetch(std::size_t offset);

  Window& window_;
  const std::byte* first_;
  std::size_t end_;
  std::size_t seen_begin_ = 0;  // of what the window holds
  std::size_t seen_end_ = 0;
  std::size_t used_ = 0;   // of it
  std::size_t ahead_ = 0;  // what is fetched at once
};

}  // namespace iocomp::device
