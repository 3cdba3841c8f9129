// SPDX-License-Identifier: BSD-3-Clause
#include "base/write_plainly.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/failure.h"

namespace iocomp {

void write_plainly(const Descriptor& file, std::int64_t offset, std::span<const std::byte> bytes,
                   const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.raw(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      throw failure("write " + std::to_string(bytes.size()) + " bytes at offset " +
                        std::to_string(offset) + " of",
                    path, written < 0 ? errno : ENOSPC);
    }
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void begin_flush(const Descriptor& file, std::int64_t offset, std::int64_t bytes) noexcept {
  (void)::sync_file_range(file.raw(), offset, bytes, SYNC_FILE_RANGE_WRITE);
}

}  // namespace iocomp
