// SPDX-License-Identifier: BSD-3-Clause
#include "formats/sieve.h"

#include <cstddef>

namespace iocomp::formats {

bool Sieve::takes(const Wanted& next) const noexcept {
  if (group_.empty()) {
    return true;
  }
  const auto& last = group_.back();
  return last.bytes < limits_.direct_bytes && next.bytes < limits_.direct_bytes &&
         next.offset - last.end() <= static_cast<std::int64_t>(limits_.gap_bytes) &&
         next.end() - group_.front().offset <= static_cast<std::int64_t>(limits_.span_bytes);
}

}  // namespace iocomp::formats
