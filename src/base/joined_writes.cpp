// SPDX-License-Identifier: BSD-3-Clause
#include "base/joined_writes.h"

#include <cstddef>
#include <span>

#include "base/write_plainly.h"

namespace iocomp {
namespace {

constexpr std::size_t long_enough = std::size_t{1} << 20;  // a copy costs more than a call

}  // namespace

void JoinedWrites::add(std::span<const std::byte> bytes) {
  if (joined_.size() + bytes.size() > long_enough) {
    write(joined_);
    joined_.clear();
  }
  if (bytes.size() > long_enough) {
    write(bytes);
  } else {
    joined_.insert(joined_.end(), bytes.begin(), bytes.end());
  }
}

void JoinedWrites::finish() {
  write(joined_);
  joined_.clear();
  begin_flush(file_, begin_, written_ - begin_);
}

void JoinedWrites::write(std::span<const std::byte> bytes) {
  write_plainly(file_, written_, bytes, path_);
  written_ += std::ssize(bytes);
}

}  // namespace iocomp
