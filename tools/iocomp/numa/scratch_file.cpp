// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numa/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/plain_io.h"
#include "iocomp/numa/placed_memory.h"

namespace iocomp::command {

ScratchFile::ScratchFile(const std::string& directory)
    : path_{directory + "/.iocomp-numa-" + std::to_string(getpid())},
      file_{::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)} {
  check(file_.raw(), "create");
  direct_ = Descriptor{::open(path_.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC)};
  check(unlink(path_.c_str()), "remove");
}

void ScratchFile::check(int result, const char* what) const {
  if (result < 0) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot "} + what + " " + path_ + ": " + std::strerror(errno)};
  }
}

void ScratchFile::clear() { check(ftruncate(file_.raw(), 0), "empty"); }

void ScratchFile::allocate(std::size_t bytes) {
  errno = posix_fallocate(file_.raw(), 0, static_cast<off_t>(bytes));
  check(-errno, "make room in");
}

void ScratchFile::settle(bool drop_cache) {
  check(fdatasync(file_.raw()), "fsync");
  if (drop_cache) {
    errno = posix_fadvise(file_.raw(), 0, 0, POSIX_FADV_DONTNEED);
    check(-errno, "drop the cache of");
  }
}

void ScratchFile::write(std::int64_t offset, std::span<const std::byte> bytes, bool direct) const {
  write_plainly(direct ? direct_ : file_, offset, bytes, path_);
}

void ScratchFile::read(std::int64_t offset, std::span<std::byte> bytes, bool direct) const {
  while (!bytes.empty()) {
    const ssize_t got = pread((direct ? direct_ : file_).raw(), bytes.data(), bytes.size(), offset);
    if (got == 0) {
      errno = EIO;  // it is shorter than what was written
    }
    check(got <= 0 ? -1 : 0, "read");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::string ScratchFile::misplaced(std::int64_t offset, std::size_t bytes,
                                   std::optional<int> domain) const {
  if (!domain) {
    return {};
  }
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file_.raw(), offset);
  check(mapped == MAP_FAILED ? -1 : 0, "map");
  const std::span range{static_cast<const std::byte*>(mapped), bytes};
  // A page has a place in this process when it was touched here.
  std::byte sum{};
  for (std::size_t at = 0; at < bytes; at += 4096) {
    sum |= *static_cast<const volatile std::byte*>(&range[at]);
  }
  std::string story;
  const auto looked = outcome_of([&] { story = misplaced_pages(range, domain, "the page cache"); });
  munmap(mapped, bytes);
  looked.throw_unless_ok();
  return story;
}

}  // namespace iocomp::command
