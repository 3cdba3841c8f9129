// SPDX-License-Identifier: BSD-3-Clause
#include "commit/growing_file.h"

#include <fcntl.h>
#include <stdio.h>
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
#include "base/small_files.h"
#include "base/write_plainly.h"

namespace iocomp::commit {
namespace {

void write_at(const std::string& path, std::int64_t offset, std::string_view text) {
  Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)};
  if (!file.is_open()) {
    throw failure("open", path, errno);
  }
  write_plainly(file, offset, std::as_bytes(std::span{text}), path);
  if (::fsync(file.raw()) != 0) {
    throw failure("fsync", path, errno);
  }
}

}  // namespace

GrowingFile::GrowingFile(std::string path, std::string ending)
    : path_{std::move(path)}, ending_{std::move(ending)} {}

GrowingFile::~GrowingFile() { drop_other(); }

void GrowingFile::drop_other() noexcept {
  if (!other_.empty()) {
    ::unlink(other_.c_str());
    other_.clear();
  }
}

void GrowingFile::write(std::string_view text, const std::string& temporary,
                        const std::function<void()>& may_appear) {
  shown_bytes_.reset();
  drop_other();
  const std::array<std::string_view, 2> parts{text, ending_};
  write_durably(path_, temporary, parts, may_appear);
  bytes_written_ += std::ssize(text) + std::ssize(ending_);
  shown_bytes_ = std::ssize(text);
}

void GrowingFile::make_other(const std::string& temporary) {
  const auto whole = read_file(path_);
  if (!whole || std::ssize(*whole) < *shown_bytes_) {
    throw Error{ErrorCode::storage_failure, path_ + " is not what was written"};
  }
  ::unlink(temporary.c_str());
  other_ = temporary;
  other_bytes_ = 0;
  missing_ = whole->substr(0, static_cast<std::size_t>(*shown_bytes_));
}

void GrowingFile::append(std::string_view more, const std::string& temporary,
                         const std::function<void()>& may_appear) {
  const std::int64_t shown = shown_bytes_.value();
  try {
    if (other_.empty()) {
      make_other(temporary);
    }
    const std::string text = missing_ + std::string{more};
    write_at(other_, other_bytes_, text + ending_);
    bytes_written_ += std::ssize(text) + std::ssize(ending_);
    const OpenFolder folder{path_};
    check_may_appear(may_appear);
    if (::renameat2(AT_FDCWD, other_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
      throw failure("exchange " + other_ + " with", path_, errno);
    }
    shown_bytes_ = other_bytes_ + std::ssize(text);
    other_bytes_ = shown;
    missing_ = more;
    folder.sync();
  } catch (...) {
    shown_bytes_.reset();
    drop_other();
    throw;
  }
}

}  // namespace iocomp::commit
