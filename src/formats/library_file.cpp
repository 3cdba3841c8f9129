// SPDX-License-Identifier: BSD-3-Clause
#include "formats/library_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "base/plain_io.h"

namespace iocomp::formats {
namespace {

// The clock of a file system may stand still for so long.
constexpr std::chrono::seconds settled_after{2};
constexpr std::chrono::seconds longest_look{10};

// Guarded by the lock of the library.
std::vector<LibraryFile*>& all_files() {
  static std::vector<LibraryFile*> files;
  return files;
}

bool is_older(const struct stat& status, std::chrono::seconds age) {
  const auto changed = std::chrono::seconds{status.st_mtim.tv_sec};
  return std::chrono::system_clock::now().time_since_epoch() - changed > age;
}

// Fewer at the end of the file.
std::string bytes_at(const Descriptor& file, std::int64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  const auto got = ::pread(file.raw(), text.data(), text.size(), offset);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace

// HDF5 looks at these places.
std::int64_t begin_of_hdf5(const Descriptor& file) {
  std::int64_t at = 0;
  std::string found;
  do {
    found = bytes_at(file, at, hdf5_signature.size());
    if (found == hdf5_signature) {
      return at;
    }
    at = at == 0 ? 512 : 2 * at;
  } while (found.size() == hdf5_signature.size());
  return -1;
}

LibraryFile::LibraryFile(const Path& path, Calls calls)
    : path_{path.text()},
      calls_{std::move(calls)},
      file_{path.folder().open(path.name(), O_RDONLY, OpenFolder::Links::followed)} {
  open();
  all_files().push_back(this);
}

LibraryFile::~LibraryFile() {
  std::erase(all_files(), this);
  if (is_open_) {
    calls_.close();
  }
}

// The superblock names the metadata in force, and the length of the file, which each step changes.
// Empty for other formats, which do not write over what readers have seen.
std::string LibraryFile::superblock() const {
  return superblock_at_ < 0 ? std::string{} : bytes_at(file_, superblock_at_, 48);
}

void LibraryFile::look(const std::function<void()>& body) {
  constexpr std::chrono::milliseconds pause{1};
  const auto last = std::chrono::steady_clock::now() + longest_look;
  while (true) {
    if (is_open_ && superblock() != superblock_) {
      close();
    }
    if (!is_open_) {
      open();
    }
    const Outcome looked = outcome_of(body);
    if (superblock() == superblock_) {
      looked.throw_unless_ok();
      return;
    }
    if (std::chrono::steady_clock::now() > last) {
      throw Error{ErrorCode::storage_failure, "cannot read " + path_ +
                                                  ": a job commits steps to it more quickly than "
                                                  "they can be read"};
    }
    std::this_thread::sleep_for(pause);
  }
}

void LibraryFile::close() {
  is_open_ = false;
  calls_.close();
}

std::int64_t LibraryFile::bytes() const { return length_of(file_, path_); }

bool LibraryFile::is_same_file(const struct stat& status) const noexcept {
  return seen_.st_dev == status.st_dev && seen_.st_ino == status.st_ino;
}

bool LibraryFile::has_changed(const struct stat& status) const noexcept {
  return !is_settled_ || seen_.st_size != status.st_size ||
         seen_.st_mtim.tv_sec != status.st_mtim.tv_sec ||
         seen_.st_mtim.tv_nsec != status.st_mtim.tv_nsec;
}

// A job may write the file meanwhile. Then the library has seen parts of two moments.
void LibraryFile::open() {
  constexpr std::chrono::milliseconds pause{1};
  for (int tries = 20;; --tries) {
    const Outcome opened = outcome_of([this] { try_to_open(); });
    struct stat now{};
    if (opened.ok() || tries == 0 || ::fstat(file_.raw(), &now) != 0 || !has_changed(now)) {
      opened.throw_unless_ok();
      return;
    }
    std::this_thread::sleep_for(pause);
  }
}

void LibraryFile::try_to_open() {
  struct stat status{};
  if (::fstat(file_.raw(), &status) != 0) {
    throw failure("open", path_, errno);
  }
  for (LibraryFile* const other : all_files()) {
    if (other->is_open_ && other->is_same_file(status) && other->has_changed(status)) {
      other->close();
    }
  }
  seen_ = status;
  is_settled_ = is_older(status, settled_after);
  superblock_at_ = begin_of_hdf5(file_);
  superblock_ = superblock();  // first: the library may see a newer one, and then looks again
  calls_.open(file_);
  is_open_ = true;
}

}  // namespace iocomp::formats
