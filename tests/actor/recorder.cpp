// SPDX-License-Identifier: BSD-3-Clause
#include "recorder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>

#include "faults.h"

namespace actor::recorder {
namespace {

// The calls of this file go to the kernel themselves: others are stood in for, and recorded.

struct Log {
  std::mutex mutex;  // with the lock on the file: one process, and one thread of it
  int descriptor = -1;
  std::string folder;  // with a slash behind
};

Log& log() {
  static Log kept;
  return kept;
}

std::atomic<bool> is_recording{false};

void append(const std::string& word, std::uint64_t a, std::uint64_t b, std::uint64_t c,
            std::span<const std::byte> bytes) {
  std::string head = word + ' ' + std::to_string(a) + ' ' + std::to_string(b) + ' ' +
                     std::to_string(c) + ' ' + std::to_string(bytes.size()) + '\n';
  std::array<iovec, 2> parts{
      {{head.data(), head.size()}, {const_cast<std::byte*>(bytes.data()), bytes.size()}}};
  const auto all = static_cast<long>(head.size() + bytes.size());
  if (::syscall(SYS_writev, log().descriptor, parts.data(), parts.size()) != all) {
    throw std::runtime_error{"cannot write the log of the recorder"};
  }
}

std::uint64_t inode_of(int descriptor) {
  struct stat status{};
  // Not by fstat, which is intercepted.
  return ::fstatat(descriptor, "", &status, AT_EMPTY_PATH) == 0 ? status.st_ino : 0;
}

// The upper half of numbers of writes.
std::uint64_t process() { return static_cast<std::uint64_t>(::getpid()) << 32; }

std::string whole(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::span<const std::byte> bytes_in(const std::string& text) {
  return std::as_bytes(std::span{text});
}

}  // namespace

void start(const std::string& path) {
  Log& kept = log();
  const std::scoped_lock lock{kept.mutex};
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  kept.descriptor = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags, 0644));
  if (kept.descriptor < 0) {
    throw std::runtime_error{"cannot record into " + path};
  }
  kept.folder = std::filesystem::current_path().string() + '/';
  is_recording = true;
}

void stop() {
  Log& kept = log();
  const std::scoped_lock lock{kept.mutex};
  if (is_recording.exchange(false)) {
    ::close(kept.descriptor);
  }
}

bool is_on() { return is_recording; }

Turn::Turn() {
  log().mutex.lock();
  ::flock(log().descriptor, LOCK_EX);
}

Turn::~Turn() {
  ::flock(log().descriptor, LOCK_UN);
  log().mutex.unlock();
}

bool concerns(int descriptor) {
  return is_recording && (path_of(descriptor) + '/').starts_with(log().folder);
}

bool concerns(const std::string& path) {
  return is_recording && (whole(path) + '/').starts_with(log().folder);
}

void tell(std::string_view entry) {
  const Turn turn;
  append("told", 0, 0, 0, std::as_bytes(std::span{entry}));
}

void created(int descriptor, const char* path) {
  append("create", inode_of(descriptor), 0, 0, bytes_in(whole(path)));
}

void wrote(int descriptor, std::span<const std::byte> bytes, std::int64_t offset,
           std::uint64_t id) {
  append("write", inode_of(descriptor), static_cast<std::uint64_t>(offset), id + process(), bytes);
}

void done(std::uint64_t id, std::int64_t result) {
  append("done", id + process(), result < 0 ? 0 : static_cast<std::uint64_t>(result), 0, {});
}

void resized(int descriptor, std::int64_t size, bool only_grows) {
  append(only_grows ? "grow" : "truncate", inode_of(descriptor), static_cast<std::uint64_t>(size),
         0, {});
}

void synced(int descriptor, bool well) {
  append(well ? "sync" : "lost", inode_of(descriptor), process(), 0, {});
}

void made_folder(const char* path) {
  struct stat status{};
  append("folder", ::stat(path, &status) == 0 ? status.st_ino : 0, 0, 0, bytes_in(whole(path)));
}

void named(const char* word, unsigned flags, const char* path, const char* other) {
  std::string paths = whole(path);
  if (*other != '\0') {
    paths += '\0' + whole(other);
  }
  append(word, flags, 0, 0, bytes_in(paths));
}

std::uint64_t new_id() {
  static std::atomic<std::uint64_t> next{0};
  return ++next;
}

}  // namespace actor::recorder
