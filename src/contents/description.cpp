// SPDX-License-Identifier: BSD-3-Clause
#include "contents/description.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace iocomp::contents {

std::int64_t end_of(const std::vector<Placed>& contents) {
  std::int64_t end = 0;
  for (const auto& placed : contents) {
    end = placed.offset < 0 ? end : std::max(end, placed.offset + placed.variable.bytes());
  }
  return end;
}

}  // namespace iocomp::contents
