// SPDX-License-Identifier: BSD-3-Clause
#include "commit/xdmf/xdmf_steps.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "contents/catalogue.h"

namespace iocomp::commit {

NewXdmfSteps XdmfSteps::take(const contents::Contents& contents,
                             const contents::Catalogue& catalogue, std::int64_t last,
                             bool one_file) {
  NewXdmfSteps found;
  if (one_file && removals_ != contents.removals()) {
    removals_ = contents.removals();
    found.are_all = true;
    taken_until_ = 0;
    lines_.clear();
  }
  if (!one_file) {
    taken_until_ = last;
    lines_.clear();
  }
  for (auto& placed : contents.describe(catalogue, taken_until_, last).contents) {
    if (found.steps.empty() || found.steps.back().step != placed.step) {
      XdmfStep& step = found.steps.emplace_back();
      step.step = placed.step;
      step.attributes = catalogue.attributes(placed.step);
    }
    if (placed.variable.shape.dimensions == 1) {
      lines_.insert_or_assign(placed.variable.name, placed);
    }
    XdmfStep& step = found.steps.back();
    step.lines = lines_;
    step.contents.push_back(std::move(placed));
  }
  for (auto& step : found.steps) {
    const auto of_variable = catalogue.variable_attributes(step.step);
    for (const auto& placed : step.contents) {
      step.of_variable.emplace(placed.variable.name,
                               of_variable.at(static_cast<std::size_t>(placed.variable.id)));
    }
  }
  taken_until_ = last + 1;
  return found;
}

}  // namespace iocomp::commit
