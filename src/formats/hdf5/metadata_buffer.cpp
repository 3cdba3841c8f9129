// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/metadata_buffer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/plain_io.h"

namespace iocomp::formats::h5 {
namespace {

// The most bytes of neighbours that are written at once.
constexpr std::int64_t longest_row = std::int64_t{1} << 20;

std::int64_t length(std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(bytes.size());
}

}  // namespace

// Cut [begin, end) out of what is there.
void MetadataBuffer::make_way(std::int64_t begin, std::int64_t end) {
  auto next = extents_.lower_bound(begin);
  if (next != extents_.begin()) {
    auto& [offset, bytes] = *std::prev(next);
    const std::int64_t kept = begin - offset;
    if (offset + length(bytes) > end) {
      extents_.emplace(end, std::vector(bytes.begin() + (end - offset), bytes.end()));
    }
    if (kept < length(bytes)) {
      bytes.resize(static_cast<std::size_t>(kept));
    }
  }
  while (next != extents_.end() && next->first < end) {
    auto& [offset, bytes] = *next;
    if (offset + length(bytes) > end) {
      extents_.emplace(end, std::vector(bytes.begin() + (end - offset), bytes.end()));
    }
    next = extents_.erase(next);
  }
}

void MetadataBuffer::write(std::int64_t offset, std::span<const std::byte> bytes) {
  const auto known = extents_.find(offset);
  if (known != extents_.end() && known->second.size() == bytes.size()) {
    std::copy(bytes.begin(), bytes.end(),
              known->second.begin());  // the ordinary case: an object anew
    return;
  }
  make_way(offset, offset + length(bytes));
  if (offset < withheld_bytes_ && offset + length(bytes) > withheld_bytes_) {
    const auto kept = static_cast<std::size_t>(withheld_bytes_ - offset);
    extents_.emplace(withheld_bytes_,
                     std::vector(bytes.begin() + (withheld_bytes_ - offset), bytes.end()));
    bytes = bytes.first(kept);
  }
  extents_.emplace(offset, std::vector(bytes.begin(), bytes.end()));
}

int MetadataBuffer::read(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t end = offset + length(bytes);
  const std::int64_t got = read_at(file_, offset, bytes);
  if (got < 0) {
    return static_cast<int>(-got);
  }
  std::fill(bytes.begin() + got, bytes.end(), std::byte{0});
  auto next = extents_.upper_bound(offset);
  if (next != extents_.begin()) {
    --next;
  }
  for (; next != extents_.end() && next->first < end; ++next) {
    const std::int64_t from = std::max(next->first, offset);
    const std::int64_t until = std::min(next->first + length(next->second), end);
    if (from < until) {
      const auto first = next->second.begin() + (from - next->first);
      std::copy(first, first + (until - from), bytes.begin() + (from - offset));
    }
  }
  return 0;
}

int MetadataBuffer::store() {
  std::vector<std::byte> row;
  auto first = extents_.lower_bound(withheld_bytes_);
  while (first != extents_.end()) {
    const std::int64_t begin = first->first;
    row.clear();
    auto next = first;
    for (;
         next != extents_.end() && next->first == begin + length(row) && length(row) < longest_row;
         ++next) {
      row.insert(row.end(), next->second.begin(), next->second.end());
    }
    const int error = write_at(file_, begin, row);
    if (error != 0) {
      return error;
    }
    own_bytes_ = std::max(own_bytes_, begin + length(row));
    first = extents_.erase(first, next);
  }
  return 0;
}

int MetadataBuffer::extend(const Length& length) {
  struct stat status{};
  if (::fstat(file_.raw(), &status) != 0) {
    return errno;
  }
  const std::int64_t sure = std::min(status.st_size, std::max(own_bytes_, length.durable));
  if (length.least <= sure) {
    return 0;
  }
  // Less would cut off what others write meanwhile.
  return set_length(std::max(length.placed, status.st_size));
}

int MetadataBuffer::set_length(std::int64_t bytes) {
  if (::ftruncate(file_.raw(), bytes) != 0) {
    return errno;
  }
  own_bytes_ = bytes;
  return 0;
}

}  // namespace iocomp::formats::h5
