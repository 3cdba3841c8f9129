// SPDX-License-Identifier: BSD-3-Clause
#include "commit/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/failure.h"
#include "base/path.h"
#include "base/small_files.h"
#include "base/write_plainly.h"

namespace iocomp::commit {
namespace {

void write_at(const Path& path, std::int64_t offset, std::string_view text) {
  const Descriptor file = path.folder().open_own(path.name(), O_WRONLY);
  write_plainly(file, offset, std::as_bytes(std::span{text}), path.text());
  if (::fsync(file.raw()) != 0) {
    throw failure("fsync", path.text(), errno);
  }
}

}  // namespace

GrowingFile::GrowingFile(Path path, std::string ending)
    : path_{std::move(path)}, ending_{std::move(ending)} {}

GrowingFile::~GrowingFile() { drop_other(); }

void GrowingFile::drop_other() noexcept {
  if (!other_.empty()) {
    path_.folder().unlink(other_);
    other_.clear();
  }
}

void GrowingFile::write(std::string_view text, const Path& temporary,
                        const std::function<void()>& may_appear) {
  shown_bytes_.reset();
  drop_other();
  const std::array<std::string_view, 2> parts{text, ending_};
  write_durably(path_, temporary, parts, may_appear);
  bytes_written_ += std::ssize(text) + std::ssize(ending_);
  shown_bytes_ = std::ssize(text);
}

void GrowingFile::make_other(const Path& temporary) {
  const auto whole = read_file(path_);
  if (!whole || std::ssize(*whole) < *shown_bytes_) {
    throw Error{ErrorCode::storage_failure, path_.text() + " is not what was written"};
  }
  (void)path_.folder().create(temporary.name(), O_WRONLY);
  other_ = temporary.name();
  other_bytes_ = 0;
  missing_ = whole->substr(0, static_cast<std::size_t>(*shown_bytes_));
}

void GrowingFile::append(std::string_view more, const Path& temporary,
                         const std::function<void()>& may_appear) {
  const std::int64_t shown = shown_bytes_.value();
  try {
    if (other_.empty()) {
      make_other(temporary);
    }
    const std::string text = missing_ + std::string{more};
    write_at(path_.beside(other_), other_bytes_, text + ending_);
    bytes_written_ += std::ssize(text) + std::ssize(ending_);
    check_may_appear(may_appear);
    if (const int error = path_.folder().exchange(other_, path_.name()); error != 0) {
      throw failure("exchange " + temporary.text() + " with", path_.text(), error);
    }
    shown_bytes_ = other_bytes_ + std::ssize(text);
    other_bytes_ = shown;
    missing_ = more;
    path_.folder().sync();
  } catch (...) {
    shown_bytes_.reset();
    drop_other();
    throw;
  }
}

}  // namespace iocomp::commit
