// SPDX-License-Identifier: BSD-3-Clause
#include "device/gpu_values.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/error.h"

namespace iocomp::device {
namespace {

constexpr std::size_t least_ahead = std::size_t{64} << 10;  // takes as long as to begin a copy
constexpr std::size_t most_unused = 4;                      // of what was fetched, to one used

}  // namespace

GpuValues::GpuValues(Window& window, const std::byte* first, std::size_t begin, std::size_t end)
    : window_{window}, first_{first}, end_{end}, ahead_{window.memory().size()} {
  if (begin < end) {
    fetch(begin);
  }
}

void GpuValues::fetch(std::size_t offset) {
  if (offset >= end_) {
    throw Error{ErrorCode::internal, "asked for values of a GPU behind the last one"};
  }
  const std::size_t most = window_.memory().size();
  if (seen_end_ > seen_begin_) {
    const bool is_wasteful = used_ * most_unused < seen_end_ - seen_begin_;
    ahead_ = is_wasteful ? std::max(least_ahead, ahead_ / most_unused)
                         : std::min(most, ahead_ * most_unused);
  }
  const std::size_t bytes = std::min({ahead_, most, end_ - offset});
  seen_begin_ = seen_end_ = offset;
  window_.fetch(first_ + offset, bytes);
  seen_end_ = offset + bytes;
  used_ = 0;
}

void GpuValues::read(std::size_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    if (offset < seen_begin_ || offset >= seen_end_) {
      fetch(offset);
    }
    const std::size_t bytes = std::min(to.size(), seen_end_ - offset);
    std::memcpy(to.data(), window_.memory().data() + (offset - seen_begin_), bytes);
    used_ += bytes;
    offset += bytes;
    to = to.subspan(bytes);
  }
}

}  // namespace iocomp::device
