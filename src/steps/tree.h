// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace iocomp::steps {

/// The tree between a file's lead (number 0) and all its writers, seen from one of them. All
/// writers below one have consecutive numbers. So they mostly sit on one node, and messages seldom
/// cross between nodes.
class Tree {
 public:
  /// Numbers from `first` to before `end`. The first one passes messages on to the others.
  struct Branch {
    int first = 0;
    int end = 0;

    [[nodiscard]] bool has(int number) const noexcept { return first <= number && number < end; }
    [[nodiscard]] int size() const noexcept { return end - first; }
  };
  /// @param width  the largest number of writers right below one.
  /// @pre 0 <= number < size, width > 0
  Tree(int size, int width, int number);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int number() const noexcept { return here_.first; }
  /// The number of the writer above this one; -1 for the lead.
  [[nodiscard]] int above() const noexcept { return above_; }
  /// This writer and all below it.
  [[nodiscard]] const Branch& here() const noexcept { return here_; }
  [[nodiscard]] const std::vector<Branch>& below() const noexcept { return below_; }

 private:
  [[nodiscard]] std::vector<Branch> divide(const Branch& branch) const;

  int size_;
  int width_;
  int above_ = -1;
  Branch here_;
  std::vector<Branch> below_;
};

}  // namespace iocomp::steps
