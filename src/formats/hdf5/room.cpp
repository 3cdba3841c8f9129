#include "formats/hdf5/room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/descriptor.h"

namespace iocomp::formats::h5 {
namespace {

constexpr std::int64_t stat_block_bytes =
    512;  // the unit of st_blocks, whatever the file system's is

int compare_with_what_is_left(const Descriptor& file, std::int64_t bytes) noexcept {
  struct stat status{};
  struct statvfs disk{};
  if (::fstat(file.raw(), &status) != 0 || ::fstatvfs(file.raw(), &disk) != 0) {
    return errno;
  }
  const std::int64_t missing = bytes - status.st_blocks * stat_block_bytes;
  const auto left = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  return static_cast<double>(missing) > left ? ENOSPC : 0;
}

}  // namespace

int reserve(const Descriptor& file, std::int64_t bytes) noexcept {
  // Not posix_fallocate: where the file system cannot, that writes every block.
  while (::fallocate(file.raw(), FALLOC_FL_KEEP_SIZE, 0, bytes) != 0) {
    if (errno == EINTR) {
      continue;
    }
    return errno == EOPNOTSUPP || errno == ENOSYS ? compare_with_what_is_left(file, bytes) : errno;
  }
  return 0;
}

void give_back_the_rest(const Descriptor& file) noexcept {
  struct stat status{};
  if (::fstat(file.raw(), &status) == 0) {
    (void)!::ftruncate(file.raw(), status.st_size);
  }
}

}  // namespace iocomp::formats::h5
