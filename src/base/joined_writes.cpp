// SPDX-License-Identifier: BSD-3-Clause
#include "base/joined_writes.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/open_folder.h"
#include "base/plain_io.h"

namespace iocomp {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::size_t room_bytes = std::size_t{4} << 20;
constexpr std::size_t long_enough = std::size_t{256} << 10;  // to go past the cache
constexpr std::int64_t flushed_at_once = std::int64_t{8} << 20;

std::size_t behind_page(std::int64_t offset) { return static_cast<std::size_t>(offset % page); }

}  // namespace

JoinedWrites::JoinedWrites(const Descriptor& file, const std::string& path, bool bypasses_cache)
    : file_{file}, path_{path} {
  if (bypasses_cache) {
    direct_ = open_again(file, O_WRONLY | O_DIRECT);
  }
}

// Direct writes need bytes that lie in their page of memory as in that of the file.
void JoinedWrites::add(std::int64_t offset, std::span<const std::byte> bytes) {
  if (offset != end()) {
    write_joined();
    begin_ = offset;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  const bool lies_alike = direct_.is_open() && address % page == behind_page(offset);
  const bool is_long = bytes.size() >= (lies_alike ? long_enough : room_bytes);
  if (joined_.empty() && is_long && (lies_alike || !direct_.is_open())) {
    write(offset, bytes);
    begin_ = offset + std::ssize(bytes);
    return;
  }
  if (memory_ == nullptr && !bytes.empty()) {
    std::size_t all = room_bytes + page;
    memory_ = std::make_unique_for_overwrite<std::byte[]>(all);
    void* first = memory_.get();
    room_ = {static_cast<std::byte*>(std::align(page, room_bytes, first, all)), room_bytes};
  }
  while (!bytes.empty()) {
    const std::size_t used = behind_page(begin_) + joined_.size();
    const auto now = bytes.first(std::min(bytes.size(), room_bytes - used));
    std::ranges::copy(now, room_.begin() + static_cast<std::ptrdiff_t>(used));
    joined_ = room_.subspan(behind_page(begin_), joined_.size() + now.size());
    bytes = bytes.subspan(now.size());
    if (used + now.size() == room_bytes) {
      write_joined();
    }
  }
}

void JoinedWrites::finish() {
  write_joined();
  let_disk_begin();
}

void JoinedWrites::write_joined() {
  const auto joined = joined_;
  joined_ = {};
  write(begin_, joined);
  begin_ += std::ssize(joined);
}

void JoinedWrites::write(std::int64_t offset, std::span<const std::byte> bytes) {
  const std::size_t past = behind_page(offset);
  const std::size_t head = past == 0 ? 0 : static_cast<std::size_t>(page) - past;
  if (direct_.is_open() && bytes.size() >= long_enough) {
    write_to_cache(offset, bytes.first(head));
    const std::size_t pages = bytes.size() - head - behind_page(offset + std::ssize(bytes));
    const std::size_t written =
        write_directly(offset + static_cast<std::int64_t>(head), bytes.subspan(head, pages));
    offset += static_cast<std::int64_t>(head + written);
    bytes = bytes.subspan(head + written);
  }
  write_to_cache(offset, bytes);
}

void JoinedWrites::write_to_cache(std::int64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return;
  }
  write_plainly(file_, offset, bytes, path_);
  const std::int64_t end = offset + std::ssize(bytes);
  const bool is_first = first_in_cache_ == end_in_cache_;
  first_in_cache_ = is_first ? offset : std::min(first_in_cache_, offset);
  end_in_cache_ = std::max(is_first ? end : end_in_cache_, end);
  if (end_in_cache_ - first_in_cache_ >= flushed_at_once) {
    let_disk_begin();
  }
}

// Returns how many bytes were written. Who goes on through the cache hears why there are not more.
std::size_t JoinedWrites::write_directly(std::int64_t offset, std::span<const std::byte> pages) {
  std::size_t written = 0;
  while (written < pages.size()) {
    const ssize_t now = ::pwrite(direct_.raw(), pages.data() + written, pages.size() - written,
                                 offset + static_cast<std::int64_t>(written));
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0 && errno == EINVAL) {
      (void)direct_.close();  // this file system wants something else
    }
    if (now <= 0 || now % page != 0) {
      break;
    }
    written += static_cast<std::size_t>(now);
  }
  return written;
}

void JoinedWrites::let_disk_begin() noexcept {
  begin_flush(file_, first_in_cache_, end_in_cache_ - first_in_cache_);
  first_in_cache_ = end_in_cache_ = 0;
}

}  // namespace iocomp
