// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shared_memory/shared_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"

namespace iocomp::transport {
namespace {

constexpr const char* shm_folder = "/dev/shm";

std::string text(int error) { return std::generic_category().message(error); }

std::string sized(std::size_t bytes) { return format_bytes(static_cast<std::int64_t>(bytes)); }

// For a small /dev/shm, the message compares the bytes that are needed with those that it has.
[[noreturn]] void refuse(SharedMapping::Kind kind, std::size_t bytes, int error) {
  std::string story = "no memory that processes share: " + sized(bytes) + " are needed";
  struct statvfs status{};
  if (kind == SharedMapping::Kind::shm && statvfs(shm_folder, &status) == 0) {
    story += ", " + std::string{shm_folder} + " has " +
             sized(static_cast<std::size_t>(status.f_bavail) * status.f_frsize) + " free";
  }
  throw Error{ErrorCode::out_of_staging_memory, story + ": " + text(error)};
}

// Reserves whole pages, huge ones if the system gives shared memory any. @return errno; 0:
// reserved; EINVAL: an older kernel.
int populate(std::span<std::byte> memory) {
#ifdef MADV_POPULATE_WRITE
  return madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE) == 0 ? 0 : errno;
#else
  return EINVAL;
#endif
}

// Does the same for a part of a file, on every kernel.
int allocate(int descriptor, std::size_t offset, std::size_t bytes) {
  int error = 0;
  do {
    error = posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

int reserve_all(int descriptor, std::span<std::byte> memory) {
  if (populate(memory) == 0) {
    return 0;
  }
  // Either the kernel is older, or there is too little memory: then this call tells so, after all
  // of it is free again.
  if (ftruncate(descriptor, 0) != 0 ||
      ftruncate(descriptor, static_cast<off_t>(memory.size())) != 0) {
    return errno;
  }
  return allocate(descriptor, 0, memory.size());
}

}  // namespace

SharedMapping& SharedMapping::operator=(SharedMapping&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::exchange(other.bytes_, {});
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
    named_ = std::exchange(other.named_, false);
    pages_ = other.pages_;
  }
  return *this;
}

SharedMapping::~SharedMapping() { release(); }

void SharedMapping::release() noexcept {
  pages_ = Pages::reserved;
  forget_name();
  if (!bytes_.empty()) {
    munmap(bytes_.data(), bytes_.size());
    bytes_ = {};
  }
}

void SharedMapping::forget_name() noexcept {
  if (std::exchange(named_, false)) {
    unlink(path_.c_str());
  }
  if (descriptor_ != -1 && pages_ == Pages::reserved) {
    close(std::exchange(descriptor_, -1));
  }
}

SharedMapping SharedMapping::create(Kind kind, const std::string& name, std::size_t bytes,
                                    Pages pages) {
  SharedMapping made;
  made.pages_ = pages;
  if (kind == Kind::memfd) {
    made.descriptor_ = memfd_create(name.c_str(), MFD_CLOEXEC);
    made.path_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(made.descriptor_);
  } else {
    made.path_ = std::string{shm_folder} + '/' + name;
    constexpr mode_t own = 0600;
    made.descriptor_ = ::open(made.path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, own);
    made.named_ = made.descriptor_ != -1;
  }
  if (made.descriptor_ == -1) {
    refuse(kind, bytes, errno);
  }
  if (ftruncate(made.descriptor_, static_cast<off_t>(bytes)) != 0) {
    refuse(kind, bytes, errno);
  }
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.descriptor_, 0);
  if (memory == MAP_FAILED) {
    refuse(kind, bytes, errno);
  }
  made.bytes_ = {static_cast<std::byte*>(memory), bytes};
  madvise(memory, bytes, MADV_HUGEPAGE);  // small pages if the system gives files no others
  if (pages == Pages::on_demand) {
    return made;
  }
  if (const int error = reserve_all(made.descriptor_, made.bytes_); error != 0) {
    refuse(kind, bytes, error);
  }
  return made;
}

bool SharedMapping::reserve(std::size_t offset, std::size_t bytes) const noexcept {
  const int error = populate(bytes_.subspan(offset, bytes));
  return (error == EINVAL ? allocate(descriptor_, offset, bytes) : error) == 0;
}

SharedMapping SharedMapping::open(const std::string& path, std::size_t bytes, bool writable,
                                  Pages pages) {
  const auto refused = [&](const std::string& why) {
    return Error{ErrorCode::unsupported,
                 "cannot map the memory " + path + " of another process: " + why};
  };
  const int descriptor = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (descriptor == -1) {
    throw refused(text(errno));
  }
  struct stat status{};
  // Processes that do not see one another's numbers may find another file there.
  if (fstat(descriptor, &status) != 0 || static_cast<std::size_t>(status.st_size) != bytes) {
    close(descriptor);
    throw refused("it is not what was announced");
  }
  void* const memory = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                            MAP_SHARED, descriptor, 0);
  const int error = errno;
  if (pages == Pages::reserved || memory == MAP_FAILED) {
    close(descriptor);
  }
  if (memory == MAP_FAILED) {
    throw refused(text(error));
  }
  SharedMapping mapped;
  if (pages == Pages::on_demand) {
    madvise(memory, bytes, MADV_HUGEPAGE);
    mapped.pages_ = pages;
    mapped.descriptor_ = descriptor;
  }
  mapped.bytes_ = {static_cast<std::byte*>(memory), bytes};
  mapped.path_ = path;
  return mapped;
}

}  // namespace iocomp::transport
