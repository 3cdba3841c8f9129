// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <utility>

#include "contents/catalogue.h"
#include "steps/orders.h"

namespace iocomp::commit {

/// Warns once about each variable that nobody has put into a step, if the format has it in all
/// steps. Other programs find its fill value there.
class Unput {
 public:
  /// @param file  its name in the program.
  explicit Unput(std::string file) : file_{std::move(file)} {}

  void look(const steps::Commit& commit, const contents::Catalogue& catalogue);

 private:
  std::string file_;
  std::set<int> told_;
};

}  // namespace iocomp::commit
