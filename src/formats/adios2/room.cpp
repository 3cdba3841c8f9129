// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/descriptor.h"

namespace iocomp::formats::bp {
namespace {

bool is_not_supported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EISDIR ||
         error == ENOENT;
}

// Where nothing can be set aside: what the file system says is left.
int error_by_looking(const Descriptor& folder, std::int64_t bytes) {
  struct statvfs room{};
  if (::fstatvfs(folder.raw(), &room) != 0) {
    return 0;  // then the write will tell
  }
  const std::uint64_t left = std::uint64_t{room.f_bavail} * room.f_frsize;
  return left < static_cast<std::uint64_t>(bytes) ? ENOSPC : 0;
}

}  // namespace

Room::Room(const Descriptor& folder, std::int64_t bytes) noexcept
    : file_{::openat(folder.raw(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)} {
  if (!file_.is_open()) {
    error_ = is_not_supported(errno) ? error_by_looking(folder, bytes) : errno;
  } else if (::fallocate(file_.raw(), 0, 0, bytes) != 0) {
    error_ = is_not_supported(errno) ? error_by_looking(folder, bytes) : errno;
  }
}

int error_of_limit(const std::string& path, std::int64_t bytes) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return 0;
  }
  std::uintmax_t longest = 0;
  std::error_code ignored;  // then the write will tell
  if (std::filesystem::is_directory(path, ignored)) {
    for (const auto& entry : std::filesystem::directory_iterator{path, ignored}) {
      const auto length = entry.file_size(ignored);
      longest = std::max(longest, ignored ? 0 : length);
    }
  } else {
    const auto length = std::filesystem::file_size(path, ignored);
    longest = ignored ? 0 : length;
  }
  return longest + static_cast<std::uintmax_t>(bytes) > limit.rlim_cur ? EFBIG : 0;
}

}  // namespace iocomp::formats::bp
