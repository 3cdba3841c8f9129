// SPDX-License-Identifier: BSD-3-Clause
#include "array/run_list.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "array/runs.h"

namespace iocomp::array {

void RunList::append(const Run& run) {
  if (entries_.empty() || end() != run.index) {
    entries_.push_back({run.index, elements_});
  }
  elements_ += run.elements;
}

std::int64_t RunList::end() const noexcept {
  return entries_.empty() ? 0 : entries_.back().index + (elements_ - entries_.back().packed);
}

std::size_t RunList::run_of(std::int64_t packed) const noexcept {
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), packed,
      [](std::int64_t wanted, const Entry& entry) { return wanted < entry.packed; });
  return static_cast<std::size_t>(std::distance(entries_.begin(), after)) - 1;
}

std::int64_t RunList::elements_below(std::int64_t index) const noexcept {
  const auto after = std::lower_bound(
      entries_.begin(), entries_.end(), index,
      [](const Entry& entry, std::int64_t wanted) { return entry.index < wanted; });
  if (after == entries_.begin()) {
    return 0;
  }
  const auto number = static_cast<std::size_t>(std::distance(entries_.begin(), after)) - 1;
  const Run last = run(number);
  return entries_[number].packed + std::min(last.elements, index - last.index);
}

RunList RunList::part(std::int64_t first, std::int64_t count) const {
  RunList part;
  if (count == 0) {
    return part;
  }
  const std::size_t begin = run_of(first);
  const std::size_t last = run_of(first + count - 1);
  part.reserve(last - begin + 1);
  for (std::size_t number = begin; number <= last; ++number) {
    const std::int64_t from = std::max(first, entries_[number].packed);
    const std::int64_t to = std::min(first + count, packed_end(number));
    part.append({entries_[number].index + from - entries_[number].packed, to - from});
  }
  return part;
}

}  // namespace iocomp::array
