// SPDX-License-Identifier: BSD-3-Clause
#include "failing_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <string>

namespace iocomp {

Calls calls;

namespace {

bool fails(const std::string& call) {
  if (calls.made.empty() || calls.made.back() != call) {
    calls.made.push_back(call);
  }
  if (calls.until_failure != 0) {
    calls.until_failure -= calls.until_failure > 0 ? 1 : 0;
    return false;
  }
  calls.until_failure = calls.goes_on_failing ? 0 : -1;
  calls.has_failed = true;
  calls.made.back() += ": fails";
  errno = EIO;
  return true;
}

std::string name_behind(int descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error)
      .filename()
      .string();
}

bool has_mode(int descriptor, mode_t mode) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT) == mode;
}

int changed(long result, std::initializer_list<const char*> names) {
  if (result == 0) {
    calls.undurable.insert(names.begin(), names.end());
  }
  return static_cast<int>(result);
}

int sync(int descriptor, long number) {
  const bool is_folder = has_mode(descriptor, S_IFDIR);
  if (fails("sync " + (is_folder ? "folder" : name_behind(descriptor)))) {
    return -1;
  }
  const long result = ::syscall(number, descriptor);
  if (is_folder && result == 0) {
    calls.undurable.clear();
  }
  return static_cast<int>(result);
}

}  // namespace
}  // namespace iocomp

// The linker takes these instead of the C library's.
using iocomp::changed;
using iocomp::fails;
using iocomp::has_mode;
using iocomp::name_behind;

extern "C" {

int fsync(int descriptor) { return iocomp::sync(descriptor, SYS_fsync); }

int fdatasync(int descriptor) { return iocomp::sync(descriptor, SYS_fdatasync); }

ssize_t write(int descriptor, const void* bytes, size_t count) {
  if (descriptor > STDERR_FILENO && has_mode(descriptor, S_IFREG) &&
      fails("write " + name_behind(descriptor))) {
    return -1;
  }
  return ::syscall(SYS_write, descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (fails("write " + name_behind(descriptor))) {
    return -1;
  }
  return ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  if (iocomp::calls.counts_reads && fails("read " + name_behind(descriptor))) {
    return -1;
  }
  return ::syscall(SYS_pread64, descriptor, bytes, count, offset);
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  if (fails("cut " + name_behind(descriptor))) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, bytes));
}

int renameat(int folder, const char* from, int other, const char* to) noexcept {
  if (fails(std::string{"rename "} + from + ' ' + to)) {
    return -1;
  }
  return changed(::syscall(SYS_renameat2, folder, from, other, to, 0U), {from, to});
}

int renameat2(int folder, const char* from, int other, const char* to, unsigned flags) noexcept {
  if (fails(std::string{(flags & RENAME_EXCHANGE) != 0 ? "exchange " : "rename "} + from + ' ' +
            to)) {
    return -1;
  }
  return changed(::syscall(SYS_renameat2, folder, from, other, to, flags), {from, to});
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  if (fails(std::string{"unlink "} + name)) {
    return -1;
  }
  return changed(::syscall(SYS_unlinkat, folder, name, flags), {name});
}

}  // extern "C"
