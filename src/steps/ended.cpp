// SPDX-License-Identifier: BSD-3-Clause
#include "steps/ended.h"

#include <algorithm>

#include "base/checked.h"

namespace iocomp::steps {
namespace {

using Pieces = decltype(Ended::pieces);

// Sorts instead of searching, because there may be many writers.
void add_pieces(Pieces& sum, const Pieces& more) {
  sum.insert(sum.end(), more.begin(), more.end());
  std::ranges::sort(sum);
  auto last = sum.begin();
  for (auto next = sum.begin(); next != sum.end(); ++next) {
    if (next == last) {
      continue;
    }
    if (next->first == last->first) {
      last->second = checked_sum(last->second, next->second);
    } else {
      *++last = *next;
    }
  }
  if (!sum.empty()) {
    sum.erase(last + 1, sum.end());
  }
}

}  // namespace

void add(Ended& sum, const Ended& more) {
  sum.members = checked_sum(sum.members, more.members);
  add_pieces(sum.pieces, more.pieces);
  sum.variables.add(more.variables);
  sum.sums.insert(sum.sums.end(), more.sums.begin(), more.sums.end());
  sum.events = std::max(sum.events, more.events);
  sum.unclaimed = checked_sum(sum.unclaimed, more.unclaimed);
  sum.unfinished = checked_sum(sum.unfinished, more.unfinished);
  add(sum.predecessors, more.predecessors);
}

}  // namespace iocomp::steps
