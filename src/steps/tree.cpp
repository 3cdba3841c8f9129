// SPDX-License-Identifier: BSD-3-Clause
#include "steps/tree.h"

#include <algorithm>
#include <vector>

namespace iocomp::steps {

Tree::Tree(int size, int width, int number) : size_{size}, width_{width}, here_{0, size} {
  below_ = divide(here_);
  while (here_.first != number) {
    above_ = here_.first;
    here_ = *std::ranges::find_if(below_, [number](const Branch& one) { return one.has(number); });
    below_ = divide(here_);
  }
}

// Divides into parts of equal size. So the depth is at most one more than the least possible.
std::vector<Tree::Branch> Tree::divide(const Branch& branch) const {
  const int left = branch.size() - 1;
  const int parts = std::min(width_, left);
  std::vector<Branch> branches;
  int first = branch.first + 1;
  for (int part = 0; part < parts; ++part) {
    const int end = first + left / parts + (part < left % parts ? 1 : 0);
    branches.push_back({first, end});
    first = end;
  }
  return branches;
}

}  // namespace iocomp::steps
