// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace iocomp {

/// Memory for one use after the other: what is in it at the beginning of one is not defined.
class ScratchMemory {
 public:
  /// Memory of that size, valid until the next call. @throws std::bad_alloc.
  [[nodiscard]] std::span<std::byte> room(std::size_t bytes) {
    if (bytes > capacity_) {
      memory_.reset();
      capacity_ = 0;
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace iocomp
