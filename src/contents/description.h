// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/box.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// The time of a step for which nobody has set one.
inline constexpr double unknown_time = std::numeric_limits<double>::quiet_NaN();

/// The program's number and time for a step.
struct StepName {
  std::int64_t number = 0;
  double time = unknown_time;
};

/// A block that a rank has put, and the checksum of its values there (array/checksum.h).
struct BlockSum {
  array::Box box;
  std::uint64_t checksum = 0;

  friend bool operator==(const BlockSum&, const BlockSum&) = default;
};
/// The checksums of a variable's blocks in a step; null if there are none.
using BlockSums = std::shared_ptr<const std::vector<BlockSum>>;

/// A variable at one step, and where it lies.
struct Placed {
  std::int64_t step = 0;
  Variable variable;
  std::int64_t offset =
      -1;  ///< of its first byte in the file; -1 where the format library keeps it
  BlockSums sums{};
  std::int64_t number = -1;  ///< what the program calls the step; -1: the same as `step`
  /// False if a file shows by itself that nobody has put it in this step.
  bool was_put = true;

  [[nodiscard]] std::int64_t number_of_step() const noexcept { return number < 0 ? step : number; }
};

/// The end of the last variable that has an offset. Only the library knows where it has put the
/// others.
[[nodiscard]] inline std::int64_t end_of(const std::vector<Placed>& contents) {
  std::int64_t end = 0;
  for (const auto& placed : contents) {
    end = placed.offset < 0 ? end : std::max(end, placed.offset + placed.variable.bytes());
  }
  return end;
}

/// The parts of a finished file besides its data. Steps that are not listed are absent: their data
/// are not kept.
struct Description {
  std::vector<Placed> contents;              ///< in order of step, then definition
  Attributes attributes;                     ///< of the file
  std::vector<Attributes> of_variable;       ///< indexed by Variable::id
  std::map<std::int64_t, StepName> names{};  ///< of these steps, and of those without variables
};

/// The attributes of a variable. @param all  as in a description.
[[nodiscard]] inline Attributes attributes_of(int variable, const std::vector<Attributes>& all) {
  const auto id = static_cast<std::size_t>(variable);
  return id < all.size() ? all[id] : Attributes{};
}

/// Steps without bytes cost a file nothing: so many of them it may claim. A damaged one must not
/// take all memory.
inline constexpr std::int64_t most_silent_steps = std::int64_t{1} << 24;

/// The contents of one committed file.
struct Inventory {
  std::vector<std::int64_t> steps;  ///< that are committed, ascending; also those without variables
  std::vector<Placed> contents;     ///< in order of step, then definition
  Attributes attributes;            ///< of the file
  std::map<std::string, Attributes> of_variable;  ///< by name
  std::map<std::string, std::string> not_read{};  ///< what is no variable of iocomp's, and why
  std::map<std::int64_t, StepName> names{};  ///< of those that have a number or a time of their own
  bool tells_numbers = false;                ///< the file itself tells the numbers of the steps

  /// The program's name for a step. Unless one was told, its number follows that of the step
  /// before.
  [[nodiscard]] StepName name_of(std::int64_t step) const {
    const auto later = names.upper_bound(step);
    if (later == names.begin()) {
      return {.number = step};
    }
    const auto& [from, name] = *std::prev(later);
    return from == step ? name : StepName{.number = name.number + (step - from)};
  }
};

}  // namespace iocomp::contents
