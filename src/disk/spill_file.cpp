// SPDX-License-Identifier: BSD-3-Clause
#include "disk/spill_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/free_ranges.h"
#include "disk/options.h"
#include "disk/output_file.h"

namespace iocomp::disk {
namespace {

constexpr std::size_t spill_page = FreeRanges::page_bytes;

[[noreturn]] void fail_spilling(const std::string& what, int error) {
  throw Error{ErrorCode::storage_failure, what + ": " + std::generic_category().message(error)};
}

[[noreturn]] void fail_creating(const std::string& folder, int error) {
  fail_spilling("staging.spill = \"" + folder + "\": cannot create a file there", error);
}

// A name under which the process itself can open a file again.
std::string name_of(const Descriptor& file) {
  return "/proc/self/fd/" + std::to_string(file.raw());
}

bool has_no_files_without_name(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
}

// Another process of this number, in a container, may have left the same name for a moment.
std::pair<std::string, Descriptor> open_named(const std::string& folder) {
  constexpr int most_tries = 100;
  const std::string stem = folder + "/.iocomp-spill-" + std::to_string(::getpid()) + '-';
  for (int number = 0; number < most_tries; ++number) {
    std::string path = stem + std::to_string(number);
    Descriptor opened{
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (opened.is_open()) {
      return {std::move(path), std::move(opened)};
    }
    if (errno != EEXIST) {
      break;
    }
  }
  fail_creating(folder, errno);
}

// Nothing is kept for later, so each run that is aligned bypasses the page cache.
Options for_spilling(Options options) {
  options.direct = options.direct == Direct::off ? Direct::off : Direct::on;
  options.is_given_up = {};
  return options;
}

}  // namespace

SpillFile::SpillFile(std::string folder, std::size_t limit_bytes, Options options)
    : folder_{std::move(folder)},
      free_{(limit_bytes + spill_page - 1) / spill_page * spill_page},
      descriptor_{::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)} {
  if (descriptor_.is_open()) {
    output_ = std::make_unique<OutputFile>(name_of(descriptor_), for_spilling(std::move(options)),
                                           OutputFile::Opening::finds);
  } else if (has_no_files_without_name(errno)) {
    open_for_a_moment(std::move(options));
  } else {
    fail_creating(folder_, errno);
  }
}

void SpillFile::open_for_a_moment(Options options) {
  auto [path, opened] = open_named(folder_);
  descriptor_ = std::move(opened);
  try {
    output_ = std::make_unique<OutputFile>(path, for_spilling(std::move(options)),
                                           OutputFile::Opening::finds);
  } catch (...) {
    (void)::unlink(path.c_str());
    throw;
  }
  if (::unlink(path.c_str()) != 0) {
    fail_spilling("staging.spill = \"" + folder_ + "\": cannot remove the name of " + path, errno);
  }
}

std::optional<SpillFile::Part> SpillFile::write(std::span<const std::byte> bytes) {
  const std::size_t remainder = reinterpret_cast<std::uintptr_t>(bytes.data()) % spill_page;
  const auto begin = free_.take(std::max<std::size_t>(remainder + bytes.size(), 1));
  if (!begin) {
    return std::nullopt;
  }
  Part part{*this, *begin, remainder, bytes.size()};
  output_->write(part.offset_, bytes);
  return part;
}

// Through the page cache, which need not keep it.
void SpillFile::read(const Part& part, std::span<std::byte> bytes) const {
  std::int64_t offset = part.offset_;
  for (auto left = bytes; !left.empty();) {
    const ssize_t got = ::pread(descriptor_.raw(), left.data(), left.size(), offset);
    if (got == -1 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      fail_spilling(
          "reading " + std::to_string(bytes.size()) + " bytes back that were spilled to " + folder_,
          got == 0 ? EIO : errno);
    }
    offset += got;
    left = left.subspan(static_cast<std::size_t>(got));
  }
  (void)::posix_fadvise(descriptor_.raw(), part.offset_, std::ssize(bytes), POSIX_FADV_DONTNEED);
}

bool SpillFile::is_memory() const {
  struct statfs system{};
  return ::statfs(folder_.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

void SpillFile::give_back(const Part& part) noexcept {
  free_.give_back(part.begin_, std::max<std::size_t>(part.page_remainder() + part.bytes_, 1));
  if (free_.used_bytes() == 0) {
    (void)::ftruncate(descriptor_.raw(), 0);  // others may want the room meanwhile
  }
}

}  // namespace iocomp::disk
