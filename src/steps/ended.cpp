#include "steps/ended.h"

#include <algorithm>

#include "base/checked.h"

namespace iocomp::steps {

void add(Ended& sum, const Ended& more) {
  sum.members = checked_sum(sum.members, more.members);
  for (const auto& [writer, pieces] : more.pieces) {
    const auto same = std::ranges::find(sum.pieces, writer, [](const auto& e) { return e.first; });
    if (same == sum.pieces.end()) {
      sum.pieces.emplace_back(writer, pieces);
    } else {
      same->second = checked_sum(same->second, pieces);
    }
  }
  sum.variables.add(more.variables);
  sum.sums.insert(sum.sums.end(), more.sums.begin(), more.sums.end());
  sum.events = std::max(sum.events, more.events);
}

}  // namespace iocomp::steps
