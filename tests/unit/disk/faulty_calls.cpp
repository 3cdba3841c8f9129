// SPDX-License-Identifier: BSD-3-Clause
#include "faulty_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <utility>

namespace iocomp::disk {

Faults faults;

namespace {

bool fails(int error) {
  if (error != 0) {
    errno = error;
  }
  return error != 0;
}

// Threads that share a write count it too.
void count_pwrite(bool is_direct, std::size_t bytes) {
  static std::mutex counting;
  const std::scoped_lock lock{counting};
  faults.direct_calls += is_direct ? 1 : 0;
  faults.largest_pwrite_bytes = std::max(faults.largest_pwrite_bytes, bytes);
}

bool is_interrupted() {
  return faults.interrupts > 0 && fails(faults.interrupts-- > 0 ? EINTR : 0);
}

}  // namespace
}  // namespace iocomp::disk

// The linker takes these instead of the C library's.
using iocomp::disk::faults;

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (iocomp::disk::is_interrupted()) {
    return -1;
  }
  const bool is_direct = (::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
  iocomp::disk::count_pwrite(is_direct, count);
  if (iocomp::disk::fails(is_direct ? faults.direct_error : faults.buffered_error)) {
    return -1;
  }
  if (faults.writes_nothing) {
    return 0;
  }
  const size_t allowed = faults.most_bytes == 0 ? count : std::min(count, faults.most_bytes);
  const ssize_t written = ::syscall(SYS_pwrite64, descriptor, bytes, allowed, offset);
  return faults.most_told_bytes == 0
             ? written
             : std::min(written, static_cast<ssize_t>(faults.most_told_bytes));
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  return iocomp::disk::fails(faults.read_error)
             ? -1
             : ::syscall(SYS_pread64, descriptor, bytes, count, offset);
}

int fstat(int descriptor, struct stat* status) noexcept {
  const auto result =
      static_cast<int>(::syscall(SYS_newfstatat, descriptor, "", status, AT_EMPTY_PATH));
  if (faults.block_bytes != 0) {
    status->st_blksize = faults.block_bytes;
  }
  return result;
}

int close(int descriptor) {
  const long result = ::syscall(SYS_close, descriptor);
  return iocomp::disk::fails(faults.close_error) ? -1 : static_cast<int>(result);
}

int fdatasync(int descriptor) {
  if (iocomp::disk::is_interrupted() || iocomp::disk::fails(std::exchange(faults.sync_error, 0))) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

int sync_file_range(int /*descriptor*/, off64_t /*offset*/, off64_t /*bytes*/, unsigned /*flags*/) {
  ++faults.flushes;
  errno = ENOSYS;  // which nobody should mind
  return -1;
}

}  // extern "C"
