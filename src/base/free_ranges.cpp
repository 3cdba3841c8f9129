// SPDX-License-Identifier: BSD-3-Clause
#include "base/free_ranges.h"

#include <cstddef>
#include <iterator>
#include <optional>

namespace iocomp {

FreeRanges::FreeRanges(std::size_t capacity_bytes) : capacity_{capacity_bytes} {
  if (capacity_ > 0) {
    free_.emplace(0, capacity_);
  }
}

std::optional<std::size_t> FreeRanges::take(std::size_t bytes) {
  const std::size_t taken = whole_pages(bytes);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    const auto [offset, size] = *hole;
    if (size < taken) {
      continue;
    }
    if (size > taken) {
      free_.emplace_hint(std::next(hole), offset + taken, size - taken);
    }
    free_.erase(hole);
    used_ += taken;
    return offset;
  }
  return std::nullopt;
}

void FreeRanges::give_back(std::size_t offset, std::size_t bytes) {
  std::size_t size = whole_pages(bytes);
  used_ -= size;
  const auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      free_.erase(before);
    }
  }
  if (after != free_.end() && offset + size == after->first) {
    size += after->second;
    free_.erase(after);
  }
  free_.emplace(offset, size);
}

}  // namespace iocomp
