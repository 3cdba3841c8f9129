// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace iocomp::steps {

/// The way from a file's lead, which is number 0, to all who write it and back: a tree, seen from
/// one of them. Those that are reached through one have numbers next to one another, so they mostly
/// sit on one node, and what goes to all crosses between nodes seldom.
class Tree {
 public:
  /// Numbers from `first` to before `end`; the first one passes on what is for the others.
  struct Branch {
    int first = 0;
    int end = 0;

    [[nodiscard]] bool has(int number) const noexcept { return first <= number && number < end; }
    [[nodiscard]] int size() const noexcept { return end - first; }
  };
  /// @param width  how many are right below one, at most. @pre 0 <= number < size, width > 0
  Tree(int size, int width, int number);

  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] int number() const noexcept { return here_.first; }
  /// -1 above the lead.
  [[nodiscard]] int above() const noexcept { return above_; }
  /// This one and all below it.
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
