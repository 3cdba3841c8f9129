#include "base/number_ranges.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

namespace iocomp {

std::string number_ranges(const std::vector<int>& ascending) {
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

}  // namespace iocomp
