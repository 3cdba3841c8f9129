// SPDX-License-Identifier: BSD-3-Clause
#include "hpl/layout.h"

namespace iocomp::apps::hpl {

std::vector<Run> runs_of(const Layout& layout) {
  std::vector<Run> runs;
  for_each_piece(layout,
                 [&](std::int64_t, std::int64_t row, std::int64_t column, std::int64_t length) {
                   runs.push_back({column * layout.rows.size() + row, length});
                 });
  return runs;
}

}  // namespace iocomp::apps::hpl
