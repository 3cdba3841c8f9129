// SPDX-License-Identifier: BSD-3-Clause
#include "formats/adios2/room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "base/open_folder.h"

namespace iocomp::formats::bp {
namespace {

bool has_no_such_files(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EISDIR ||
         error == ENOENT;
}

// If no room can be set aside, compare with the room that the file system says is left.
int error_by_looking(const OpenFolder& folder, std::int64_t bytes) {
  const auto room = folder.file_system();
  if (!room) {
    return 0;  // then the write will tell
  }
  const auto left =
      static_cast<std::uint64_t>(room->f_bavail) * static_cast<std::uint64_t>(room->f_bsize);
  return left < static_cast<std::uint64_t>(bytes) ? ENOSPC : 0;
}

}  // namespace

Room::Room(const OpenFolder& folder, std::int64_t bytes) noexcept
    : file_{folder.create_nameless(O_WRONLY)} {
  if (!file_.is_open()) {
    error_ = has_no_such_files(errno) ? error_by_looking(folder, bytes) : errno;
  } else if (::fallocate(file_.raw(), 0, 0, bytes) != 0) {
    error_ = has_no_such_files(errno) ? error_by_looking(folder, bytes) : errno;
  }
}

int error_of_limit(const OpenFolder& folder, const std::string& name, std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return 0;
  }
  std::int64_t longest = 0;
  for (const auto& each : name.empty() ? folder.names() : std::vector{name}) {
    const auto found = folder.find(each);
    longest = std::max<std::int64_t>(longest, found ? found->st_size : 0);
  }
  return static_cast<rlim_t>(longest + bytes) > limit.rlim_cur ? EFBIG : 0;
}

}  // namespace iocomp::formats::bp
