// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iocomp::formats::h5 {

/// A file has two editions of what changes with each commit. The one that readers see stays as it
/// is, while the other one is written.
class Editions {
 public:
  /// The one to write now: 0 or 1.
  int begin() noexcept {
    is_begun_ = true;
    return 1 - seen_;
  }
  /// The one that readers see, if there is one.
  [[nodiscard]] int seen() const noexcept { return seen_; }
  /// Readers see now what was written last.
  void turn() noexcept {
    is_begun_ = false;
    seen_ = 1 - seen_;
  }
  /// Something was written that readers do not see.
  [[nodiscard]] bool is_begun() const noexcept { return is_begun_; }

 private:
  int seen_ = 1;
  bool is_begun_ = false;
};

}  // namespace iocomp::formats::h5
