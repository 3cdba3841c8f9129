// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace iocomp::apps {

/// Zeroed memory that begins at a huge page and has been touched, so that no page fault falls into
/// a measurement. Huge pages are asked for, not insisted on.
class HugeMemory {
 public:
  /// @throws std::bad_alloc.
  explicit HugeMemory(std::size_t bytes);
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;
  ~HugeMemory();

  [[nodiscard]] std::byte* begin() const noexcept { return begin_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* begin_ = nullptr;
};

/// An array of doubles in such memory.
class HugeArray {
 public:
  explicit HugeArray(std::size_t elements)
      : memory_{elements * sizeof(double)},
        values_{reinterpret_cast<double*>(memory_.begin()), elements} {}

  [[nodiscard]] double* data() const noexcept { return values_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] std::span<double> values() const noexcept { return values_; }

 private:
  HugeMemory memory_;
  std::span<double> values_;
};

/// Take this much memory from the machine and give it back. A virtual machine may have returned its
/// free pages to the host; the first to touch them pays for that. Call it before a measurement that
/// lets the kernel allocate pages.
void warm_free_memory(std::size_t bytes);

}  // namespace iocomp::apps
