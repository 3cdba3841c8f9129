// SPDX-License-Identifier: BSD-3-Clause
#include "disk/flush_window.h"

#include <algorithm>
#include <mutex>
#include <optional>

namespace iocomp::disk {

std::optional<FileRange> FlushWindow::add(const FileRange& written) noexcept {
  const std::scoped_lock lock{mutex_};
  const bool is_first = gathered_ == 0;
  const std::int64_t end = written.offset + written.bytes;
  begin_ = is_first ? written.offset : std::min(begin_, written.offset);
  end_ = is_first ? end : std::max(end_, end);
  gathered_ += written.bytes;
  if (gathered_ < enough_) {
    return std::nullopt;
  }
  gathered_ = 0;
  return FileRange{.offset = begin_, .bytes = end_ - begin_};
}

}  // namespace iocomp::disk
