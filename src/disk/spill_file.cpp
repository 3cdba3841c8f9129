// SPDX-License-Identifier: BSD-3-Clause
#include "disk/spill_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
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
#include "base/open_folder.h"
#include "base/plain_io.h"
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

bool has_no_files_without_name(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL || error == ENOENT;
}

// Another process of this number, in a container, may have left the same name for a moment.
Descriptor create_for_a_moment(const OpenFolder& folder, const std::string& said) {
  constexpr int most_tries = 100;
  const std::string stem = ".iocomp-spill-" + std::to_string(::getpid()) + '-';
  for (int number = 0; number < most_tries; ++number) {
    const std::string name = stem + std::to_string(number);
    if (auto file = folder.create_first(name, O_RDWR)) {
      if (const int error = folder.unlink(name); error != 0) {
        fail_spilling(
            "staging.spill = \"" + said + "\": cannot remove the name of " + folder.text(name),
            error);
      }
      return *std::move(file);
    }
  }
  fail_creating(said, EEXIST);
}

// Nothing is kept for later, so each run that is aligned bypasses the page cache.
Options for_spilling(Options options) {
  options.direct = options.direct == Direct::off ? Direct::off : Direct::on;
  options.is_fenced = {};
  return options;
}

}  // namespace

SpillFile::SpillFile(std::string folder, std::size_t limit_bytes, Options options)
    : folder_{std::move(folder)}, free_{(limit_bytes + spill_page - 1) / spill_page * spill_page} {
  const Outcome made = outcome_of([&] {
    const OpenFolder opened{folder_};
    if (const auto system = opened.file_system()) {
      is_memory_ = system->f_type == TMPFS_MAGIC;
    }
    descriptor_ = opened.create_nameless(O_RDWR);
    if (!descriptor_.is_open() && has_no_files_without_name(errno)) {
      descriptor_ = create_for_a_moment(opened, folder_);
    } else if (!descriptor_.is_open()) {
      fail_creating(folder_, errno);
    }
  });
  if (!made.ok()) {
    throw Error{made.code, made.story.starts_with("staging.spill")
                               ? made.story
                               : "staging.spill = \"" + folder_ + "\": " + made.story};
  }
  Descriptor written = open_again(descriptor_, O_RDWR);
  if (!written.is_open()) {
    fail_creating(folder_, errno);
  }
  output_ =
      std::make_unique<OutputFile>(std::move(written), folder_, for_spilling(std::move(options)));
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
  if (const std::int64_t got = read_at(descriptor_, part.offset_, bytes); got < std::ssize(bytes)) {
    fail_spilling(
        "reading " + std::to_string(bytes.size()) + " bytes back that were spilled to " + folder_,
        got < 0 ? static_cast<int>(-got) : EIO);
  }
  (void)::posix_fadvise(descriptor_.raw(), part.offset_, std::ssize(bytes), POSIX_FADV_DONTNEED);
}

void SpillFile::give_back(const Part& part) noexcept {
  free_.give_back(part.begin_, std::max<std::size_t>(part.page_remainder() + part.bytes_, 1));
  if (free_.used_bytes() == 0) {
    (void)::ftruncate(descriptor_.raw(), 0);  // others may want the room meanwhile
  }
}

}  // namespace iocomp::disk
