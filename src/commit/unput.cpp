// SPDX-License-Identifier: BSD-3-Clause
#include "commit/unput.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "contents/catalogue.h"
#include "contents/variable.h"
#include "steps/orders.h"

namespace iocomp::commit {

void Unput::look(const steps::Commit& commit, const contents::Catalogue& catalogue) {
  const std::int64_t all = (commit.last - commit.first + 1) * catalogue.variables();
  if (!catalogue.rules().keeps_first_definitions || std::cmp_equal(commit.contents.size(), all)) {
    return;
  }
  std::set<std::pair<std::int64_t, int>> put;
  for (const auto& content : commit.contents) {
    put.emplace(content.step, content.variable);
  }
  for (std::int64_t step = commit.first; step <= commit.last; ++step) {
    for (int id = 0; id < catalogue.variables(); ++id) {
      if (told_.contains(id) || put.contains({step, id})) {
        continue;
      }
      const contents::Variable variable = catalogue.variable(id, step);
      if (!catalogue.has_one_step(variable)) {
        told_.insert(id);
        log::warning("file \"" + file_ + "\": nobody has put \"" + variable.name + "\" into step " +
                     std::to_string(catalogue.number(step)) +
                     ": other programs find its fill value there, if anything (told once)");
      }
    }
  }
}

}  // namespace iocomp::commit
