// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"

namespace iocomp::commit {

/// A durable text file whose text mostly grows before a fixed ending, and that is whole at any
/// moment: whoever opens it finds what it held before or after a change. There are two of it that
/// exchange their names, and what the other one lacks is added to it: so a change costs the bytes
/// of the last two, not those of all. A reader that keeps it open over two changes may see them.
class GrowingFile {
 public:
  GrowingFile(Path path, std::string ending);
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  /// Let it hold this text and the ending.
  /// @param temporary  a name beside it that nobody else uses, as long as this object is there.
  /// @param may_appear  see check_may_appear.
  /// @throws Error{storage_failure}; so below. Then it is as before.
  void write(std::string_view text, const Path& temporary,
             const std::function<void()>& may_appear = {});
  /// Let it hold more before the ending. @pre can_grow()
  void append(std::string_view more, const Path& temporary,
              const std::function<void()>& may_appear = {});
  /// Whether it was written, and nothing has failed since.
  [[nodiscard]] bool can_grow() const noexcept { return shown_bytes_.has_value(); }

  /// Put into files so far.
  [[nodiscard]] std::int64_t bytes_written() const noexcept { return bytes_written_; }

 private:
  void make_other(const Path& temporary);
  void drop_other() noexcept;

  Path path_;
  std::string ending_;
  std::optional<std::int64_t> shown_bytes_;  // without the ending
  std::string other_;                        // its name; empty: there is none
  std::int64_t other_bytes_ = 0;
  std::string missing_;  // what the other one lacks
  std::int64_t bytes_written_ = 0;
};

}  // namespace iocomp::commit
