// SPDX-License-Identifier: BSD-3-Clause
#include "base/plain_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"

namespace iocomp {

std::int64_t read_at(const Descriptor& file, std::int64_t offset,
                     std::span<std::byte> bytes) noexcept {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(file.raw(), bytes.data() + done, bytes.size() - done,
                                offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return -errno;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return static_cast<std::int64_t>(done);
}

int write_at(const Descriptor& file, std::int64_t offset,
             std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.raw(), bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return written < 0 ? errno : ENOSPC;
    }
    offset += written;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

void read_plainly(const Descriptor& file, std::int64_t offset, std::span<std::byte> bytes,
                  const std::string& path) {
  const std::int64_t got = read_at(file, offset, bytes);
  if (got < 0) {
    throw failure("read", path, static_cast<int>(-got));
  }
  if (got < std::ssize(bytes)) {
    throw Error{ErrorCode::storage_failure,
                "cannot read " + path + ": it ends at byte " + std::to_string(offset + got) + ", " +
                    std::to_string(std::ssize(bytes) - got) + " bytes too early"};
  }
}

void write_plainly(const Descriptor& file, std::int64_t offset, std::span<const std::byte> bytes,
                   const std::string& path) {
  if (const int error = write_at(file, offset, bytes); error != 0) {
    throw failure("write " + std::to_string(bytes.size()) + " bytes at offset " +
                      std::to_string(offset) + " of",
                  path, error);
  }
}

std::int64_t length_of(const Descriptor& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.raw(), &status) != 0) {
    throw failure("find the size of", path, errno);
  }
  return status.st_size;
}

void set_length(const Descriptor& file, std::int64_t bytes, const std::string& path) {
  if (::ftruncate(file.raw(), bytes) != 0) {
    throw failure("set the size of", path, errno);
  }
}

void make_durable(const Descriptor& file, const std::string& path) {
  if (::fsync(file.raw()) != 0) {
    throw failure("fsync", path, errno);
  }
}

void begin_flush(const Descriptor& file, std::int64_t offset, std::int64_t bytes) noexcept {
  (void)::sync_file_range(file.raw(), offset, bytes, SYNC_FILE_RANGE_WRITE);
}

}  // namespace iocomp
