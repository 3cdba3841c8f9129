#include "array/subtract.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/run_list.h"
#include "array/runs.h"

namespace iocomp::array {
namespace {

struct Next {
  Run run;
  std::size_t from;

  bool operator<(const Next& other) const noexcept {  // the lowest index first
    return run.index > other.run.index;
  }
};

// @pre the region is not empty.
std::int64_t begin_index(const Shape& shape, const Region& region) noexcept {
  RunCursor cursor{shape, region, 0, 1};
  Run run;
  (void)cursor.next(run);
  return run.index;
}

}  // namespace

bool may_meet(const Shape& shape, const Region& one, const Region& other) noexcept {
  if (elements(one) == 0 || elements(other) == 0) {
    return false;
  }
  if (!one.runs && !other.runs) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
      if (one.box.start[d] >= other.box.start[d] + other.box.count[d] ||
          other.box.start[d] >= one.box.start[d] + one.box.count[d]) {
        return false;
      }
    }
    return true;
  }
  return begin_index(shape, one) < end_index(shape, other) &&
         begin_index(shape, other) < end_index(shape, one);
}

// All runs ascend: so this is a merge. Of the others only the part between the first and the last
// element of the region is walked over.
RunList subtract(const Shape& shape, const Region& region, std::span<const Region> others) {
  RunList left;
  if (elements(region) == 0) {
    return left;
  }
  const std::int64_t begin = begin_index(shape, region);
  const std::int64_t end = end_index(shape, region);
  std::vector<RunCursor> cursors;
  cursors.reserve(others.size());
  std::priority_queue<Next> queue;
  for (const Region& other : others) {
    const std::int64_t first = elements_below(shape, other, begin);
    const std::int64_t count = elements_below(shape, other, end) - first;
    if (count == 0) {
      continue;
    }
    cursors.emplace_back(shape, other, first, count);
    if (Run run; cursors.back().next(run)) {
      queue.push({run, cursors.size() - 1});
    }
  }
  RunCursor cursor{shape, region, 0, elements(region)};
  std::int64_t taken = 0;  // until there, others have all that is not left
  for (Run run; cursor.next(run);) {
    const std::int64_t run_end = run.index + run.elements;
    std::int64_t at = std::max(run.index, taken);
    while (!queue.empty() && queue.top().run.index < run_end) {
      const Next next = queue.top();
      queue.pop();
      if (next.run.index > at) {
        left.append({at, next.run.index - at});
      }
      taken = std::max(taken, next.run.index + next.run.elements);
      at = std::max(at, taken);
      if (Run more; cursors[next.from].next(more)) {
        queue.push({more, next.from});
      }
    }
    if (at < run_end) {
      left.append({at, run_end - at});
    }
  }
  left.shrink();
  return left;
}

}  // namespace iocomp::array
