// SPDX-License-Identifier: BSD-3-Clause
#include "base/number_ranges.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iocomp {
namespace {

template <typename Number>
std::string ranges(const std::vector<Number>& ascending) {
  std::string out;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) {
      ++last;
    }
    out += out.empty() ? "" : ",";
    out += last == i ? fmt::format("{}", ascending[i])
                     : fmt::format("{}-{}", ascending[i], ascending[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace

std::string number_ranges(const std::vector<int>& ascending) { return ranges(ascending); }
std::string step_ranges(const std::vector<std::int64_t>& ascending) { return ranges(ascending); }

}  // namespace iocomp
