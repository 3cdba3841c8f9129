// SPDX-License-Identifier: BSD-3-Clause
// Calls of the C library that this program makes itself. The linker takes these instead of the C
// library's, for this program and for all libraries that it loads: so they can fail (faults.h) and
// be recorded (recorder.h).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faults.h"
#include "recorder.h"

namespace actor {
namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The mode of a new file, which is there only where the flags ask for one.
mode_t mode_in(int flags, va_list rest) {
  const bool is_there = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return is_there ? va_arg(rest, mode_t) : 0;
}

/// True if the call has to fail, with errno set.
template <typename Place>
bool refused(std::string_view call, const Place& place) {
  const Verdict verdict = verdict_on(call, place, 0);
  if (verdict.error != 0) {
    errno = verdict.error;
  }
  return verdict.error != 0;
}

/// A call, and its record in the same turn if it has gone well.
template <typename Place, typename Call, typename Record>
auto recorded(const Place& place, const Call& call, const Record& record) {
  if (!recorder::concerns(place)) {
    return call();
  }
  const recorder::Turn turn;
  const auto result = call();
  if (result >= 0) {
    const int kept = errno;
    record(result);
    errno = kept;
  }
  return result;
}

std::span<const std::byte> bytes_at(const void* address, std::size_t count) {
  return {static_cast<const std::byte*>(address), count};
}

/// A write at an offset, or where the descriptor stands.
ssize_t write_some(const char* kind, int descriptor, const void* bytes, std::size_t count,
                   std::optional<std::int64_t> offset,
                   const std::function<ssize_t(std::size_t)>& real) {
  const Verdict verdict = verdict_on(kind, descriptor, count);
  if (verdict.error != 0) {
    errno = verdict.error;
    return -1;
  }
  const auto call = [&] {
    if (!offset && recorder::is_on()) {
      const bool appends = (::fcntl(descriptor, F_GETFL) & O_APPEND) != 0;
      offset = ::lseek(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
    }
    return real(verdict.allowed);
  };
  return recorded(descriptor, call, [&](ssize_t written) {
    recorder::wrote(descriptor, bytes_at(bytes, static_cast<std::size_t>(written)), *offset);
  });
}

std::vector<std::byte> gathered(const iovec* parts, int count) {
  std::vector<std::byte> all;
  for (const iovec& part : std::span{parts, static_cast<std::size_t>(count)}) {
    const auto bytes = bytes_at(part.iov_base, part.iov_len);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

/// Parts in one piece of memory, so that a part of them can be written.
ssize_t write_parts(int descriptor, const iovec* parts, int count, off_t offset) {
  const auto all = gathered(parts, count);
  return ::pwrite(descriptor, all.data(), all.size(), offset);
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

int open_some(const char* path, int flags, const std::function<int()>& real) {
  if (!writes(flags)) {
    return refused("open_to_read", std::string{path}) ? -1 : real();
  }
  if (refused("open", std::string{path})) {
    return -1;
  }
  struct stat before{};
  const auto call = [&] {
    before.st_size = -1;
    (void)::stat(path, &before);
    return real();
  };
  return recorded(std::string{path}, call, [&](int descriptor) {
    if (before.st_size < 0) {
      recorder::created(descriptor, path);
    } else if ((flags & O_TRUNC) != 0 && before.st_size > 0) {
      recorder::resized(descriptor, 0, false);
    }
  });
}

int sync_some(int descriptor, const std::function<int()>& real) {
  if (refused("sync", descriptor)) {
    if (recorder::concerns(descriptor)) {
      const int kept = errno;
      const recorder::Turn turn;
      recorder::synced(descriptor, false);
      errno = kept;
    }
    return -1;
  }
  return recorded(descriptor, real, [&](int) { recorder::synced(descriptor, true); });
}

int resize(int descriptor, std::int64_t size, bool only_grows, const std::function<int()>& real) {
  return recorded(descriptor, real, [&](int) { recorder::resized(descriptor, size, only_grows); });
}

int truncate_some(int descriptor, std::int64_t size, const std::function<int()>& real) {
  return refused("truncate", descriptor) ? -1 : resize(descriptor, size, false, real);
}

int allocate(int descriptor, int mode, std::int64_t end, const std::function<int()>& real) {
  if (refused("fallocate", descriptor)) {
    return -1;
  }
  return mode == 0 ? resize(descriptor, end, true, real) : real();
}

int rename_some(unsigned flags, const char* from, const char* to,
                const std::function<int()>& real) {
  if (refused("rename", std::string{to})) {
    return -1;
  }
  return recorded(std::string{to}, real, [&](int) { recorder::named("rename", flags, from, to); });
}

int unlink_some(const std::string& path, const std::function<int()>& real) {
  if (refused("unlink", path)) {
    return -1;
  }
  return recorded(path, real, [&](int) { recorder::named("unlink", 0, path.c_str()); });
}

std::string path_at(int folder, const char* path) {
  return folder == AT_FDCWD || *path == '/' ? path : path_of(folder) + '/' + path;
}

void shift(timespec& time, double seconds) {
  constexpr long second = 1'000'000'000;
  const double whole = std::floor(seconds);
  time.tv_sec += static_cast<time_t>(whole);
  time.tv_nsec += static_cast<long>((seconds - whole) * static_cast<double>(second));
  time.tv_sec += time.tv_nsec / second;
  time.tv_nsec %= second;
}

}  // namespace
}  // namespace actor

using actor::next;
using actor::refused;

extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  return actor::write_some("pwrite", descriptor, bytes, count, offset, [&](size_t allowed) {
    return real(descriptor, bytes, allowed, offset);
  });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  static auto* const real = next<decltype(pread)>("pread");
  return actor::refused("pread", descriptor) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t offset) {
  return pread(descriptor, bytes, count, offset);
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  return actor::write_parts(descriptor, parts, count, offset);
}

ssize_t pwritev64(int descriptor, const iovec* parts, int count, off64_t offset) {
  return actor::write_parts(descriptor, parts, count, offset);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real = next<decltype(write)>("write");
  return actor::write_some("write", descriptor, bytes, count, {},
                           [&](size_t allowed) { return real(descriptor, bytes, allowed); });
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static auto* const real = next<decltype(writev)>("writev");
  if (!actor::recorder::concerns(descriptor)) {
    return real(descriptor, parts, count);
  }
  const auto all = actor::gathered(parts, count);
  return ::write(descriptor, all.data(), all.size());
}

int fsync(int descriptor) {
  static auto* const real = next<decltype(fsync)>("fsync");
  return actor::sync_some(descriptor, [&] { return real(descriptor); });
}

int fdatasync(int descriptor) {
  static auto* const real = next<decltype(fdatasync)>("fdatasync");
  return actor::sync_some(descriptor, [&] { return real(descriptor); });
}

int ftruncate(int descriptor, off_t size) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  return actor::truncate_some(descriptor, size, [&] { return real(descriptor, size); });
}

int ftruncate64(int descriptor, off64_t size) noexcept { return ::ftruncate(descriptor, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  static auto* const real = next<decltype(fallocate)>("fallocate");
  return actor::allocate(descriptor, mode, offset + bytes,
                         [&] { return real(descriptor, mode, offset, bytes); });
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t bytes) {
  return fallocate(descriptor, mode, offset, bytes);
}

int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  static auto* const real = next<decltype(posix_fallocate)>("posix_fallocate");
  if (refused("fallocate", descriptor)) {
    return errno;
  }
  // It returns an errno, others -1.
  const int result = actor::resize(descriptor, offset + bytes, true,
                                   [&] { return -real(descriptor, offset, bytes); });
  return -result;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t bytes) {
  return posix_fallocate(descriptor, offset, bytes);
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = actor::mode_in(flags, rest);
  va_end(rest);
  return actor::open_some(path, flags, [&] { return real(path, flags, mode); });
}

int openat(int folder, const char* name, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = actor::mode_in(flags, rest);
  va_end(rest);
  return actor::open_some(actor::path_at(folder, name).c_str(), flags,
                          [&] { return real(folder, name, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = actor::mode_in(flags, rest);
  va_end(rest);
  return ::open(path, flags | O_LARGEFILE, mode);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return actor::rename_some(0, from, to, [&] { return real(from, to); });
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return actor::rename_some(flags, actor::path_at(from_folder, from).c_str(),
                            actor::path_at(to_folder, to).c_str(),
                            [&] { return real(from_folder, from, to_folder, to, flags); });
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*)>("renameat");
  return actor::rename_some(0, actor::path_at(from_folder, from).c_str(),
                            actor::path_at(to_folder, to).c_str(),
                            [&] { return real(from_folder, from, to_folder, to); });
}

int link(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("link");
  return actor::recorded(
      std::string{to}, [&] { return real(from, to); },
      [&](int) { actor::recorder::named("link", 0, from, to); });
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, int)>("linkat");
  const std::string whole = actor::path_at(to_folder, to);
  return actor::recorded(
      whole, [&] { return real(from_folder, from, to_folder, to, flags); },
      [&](int) {
        actor::recorder::named("link", 0, actor::path_at(from_folder, from).c_str(), whole.c_str());
      });
}

int unlink(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("unlink");
  return actor::unlink_some(path, [&] { return real(path); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int)>("unlinkat");
  return actor::unlink_some(actor::path_at(folder, path),
                            [&] { return real(folder, path, flags); });
}

int rmdir(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("rmdir");
  return actor::unlink_some(path, [&] { return real(path); });
}

int remove(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("remove");
  return actor::unlink_some(path, [&] { return real(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  return actor::recorded(
      std::string{path}, [&] { return real(path, mode); },
      [&](int) { actor::recorder::made_folder(path); });
}

int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  static auto* const real = next<int(int, const char*, mode_t)>("mkdirat");
  const std::string path = actor::path_at(folder, name);
  return actor::recorded(
      path, [&] { return real(folder, name, mode); },
      [&](int) { actor::recorder::made_folder(path.c_str()); });
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) {
    actor::shift(*time, actor::clock_offset_seconds());
  }
  return result;
}

int gettimeofday(timeval* time, void* zone) noexcept {
  static auto* const real = next<int(timeval*, void*)>("gettimeofday");
  const int result = real(time, zone);
  if (result == 0) {
    time->tv_sec += static_cast<time_t>(actor::clock_offset_seconds());
  }
  return result;
}

time_t time(time_t* into) noexcept {
  timespec now{};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) {
    *into = now.tv_sec;
  }
  return now.tv_sec;
}

}  // extern "C"
