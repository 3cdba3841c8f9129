// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The room that steps have in a file, where others may write at any time.
class Rooms {
 public:
  /// @param offset  -1: it has no bytes, or nobody knows yet where they will be.
  void add(const Variable& variable, std::int64_t step, std::int64_t offset) noexcept {
    newest_ = std::max(newest_, step);
    end_ = offset < 0 ? end_ : std::max(end_, offset + variable.bytes());
  }
  /// True if no step has room but those that are committed with this one, or were before.
  /// @param from  as of PlainTarget::commit.
  [[nodiscard]] bool end_with(const Description& description, std::int64_t from) const noexcept {
    return newest_ <= (description.contents.empty() ? from - 1 : description.contents.back().step);
  }
  /// The end of all rooms.
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }

 private:
  std::int64_t newest_ = -1;
  std::int64_t end_ = 0;
};

}  // namespace iocomp::formats::h5
