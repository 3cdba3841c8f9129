// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "contents/variable.h"

namespace iocomp::client {

class Link;

/// Warns once about each variable that is written in many short runs, each by itself, and names it
/// in the summary. That is slow, and the program or its settings can do something about it.
class ShortRuns {
 public:
  /// This number of runs in one piece of a variable is worth a warning.
  static constexpr std::int64_t many = 1000;
  /// The longest run that counts as short, in bytes. Longer runs cost little by themselves.
  static constexpr std::int64_t longest = std::int64_t{64} << 10;

  /// @param file  its name in the program.
  ShortRuns(std::string file, Link& link) : file_{std::move(file)}, link_{link} {}

  /// Takes note of runs of the variable that go to the disk one by one, and of their elements in
  /// all.
  /// @param why  the text behind "because", and what helps.
  void note(const contents::Variable& variable, std::int64_t runs, std::int64_t elements,
            const char* why);

 private:
  std::string file_;
  Link& link_;
  std::set<int> told_;  // variables
};

}  // namespace iocomp::client
