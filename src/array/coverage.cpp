// SPDX-License-Identifier: BSD-3-Clause
#include "array/coverage.h"

#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/region.h"
#include "array/runs.h"

namespace iocomp::array {
namespace {

struct Next {
  Run run;
  std::size_t part;

  bool operator<(const Next& other) const noexcept {  // the lowest index first
    return run.index != other.run.index ? run.index > other.run.index : part > other.part;
  }
};

}  // namespace

// Each part's runs ascend: so this is a merge.
Coverage coverage_of(const Shape& shape, std::span<const Part> parts) {
  std::vector<RunCursor> cursors;
  cursors.reserve(parts.size());
  std::priority_queue<Next> queue;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    cursors.emplace_back(shape, parts[i].region, parts[i].first, parts[i].count);
    if (Run run; cursors[i].next(run)) {
      queue.push({run, i});
    }
  }
  Coverage found;
  std::int64_t end = 0;
  std::size_t last = 0;
  while (!queue.empty()) {
    const Next next = queue.top();
    queue.pop();
    if (next.run.index < end && !found.overlap) {
      found.overlap = Coverage::Overlap{last, next.part, next.run.index};
    }
    if (next.run.index > end) {
      found.holes.append({end, next.run.index - end});
    }
    if (const std::int64_t run_end = next.run.index + next.run.elements; run_end > end) {
      end = run_end;
      last = next.part;
    }
    if (Run run; cursors[next.part].next(run)) {
      queue.push({run, next.part});
    }
  }
  if (end < elements(shape)) {
    found.holes.append({end, elements(shape) - end});
  }
  return found;
}

}  // namespace iocomp::array
