// SPDX-License-Identifier: BSD-3-Clause
#include "reached.h"

#include <algorithm>
#include <fstream>
#include <span>

#if __has_include("base/mutant.h")
#include "base/mutant.h"
#endif

namespace simulation {

void tell_reached([[maybe_unused]] const std::string& path,
                  [[maybe_unused]] const std::string& history) {
#if __has_include("base/mutant.h")
  namespace mutants = iocomp::mutants;
  if (path.empty() || mutants::reached == nullptr) {
    return;
  }
  const std::span all{mutants::reached, mutants::most};
  std::ofstream file{path, std::ios::app};
  file << history << ':';
  for (auto found = std::ranges::find(all, 1); found != all.end();
       found = std::find(found, all.end(), 1)) {
    file << ' ' << found - all.begin();
    *found = 0;
  }
  file << '\n';
#endif
}

}  // namespace simulation
