// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// The name under which a file itself tells the numbers of its steps, where these are not 0, 1, 2
/// and so on: a scalar variable (int64) along the steps or, of Zarr, an attribute of the file with
/// a number for each. Readers take it for no variable of the program.
inline constexpr const char* step_numbers_name = "iocomp_step";
/// The number there of what is no step: it has failed, or nobody has put anything.
inline constexpr std::int64_t no_step = -1;
/// The number of a step that was written by a job which tells none.
inline constexpr std::int64_t unknown_number = -2;

/// That variable.
[[nodiscard]] Variable step_numbers_variable();

/// The numbers of all steps of a file in the making, by their places.
class StepNumbers {
 public:
  StepNumbers() = default;
  /// @param earlier  the numbers of the steps that earlier jobs have written, as in Beginning.
  StepNumbers(std::map<std::int64_t, std::int64_t> earlier, std::int64_t earlier_steps);

  /// Take note of the steps that are described. Those from `from` on that are not are none.
  void tell(const Description& description, std::int64_t from);
  /// True if the places of the steps do not tell their numbers.
  [[nodiscard]] bool are_needed() const noexcept { return are_needed_; }
  /// The place behind the last step.
  [[nodiscard]] std::int64_t end() const noexcept;
  /// The number of the step in a place, or `no_step`.
  [[nodiscard]] std::int64_t at(std::int64_t place) const;
  /// The numbers of so many steps, as an attribute of the file.
  [[nodiscard]] Attribute attribute(std::int64_t steps) const;

 private:
  std::map<std::int64_t, std::int64_t> numbers_;
  std::int64_t called_by_place_ = 0;  // so many of the first
  bool are_needed_ = false;
};

/// The numbers that such an attribute has; none where there is none.
[[nodiscard]] std::vector<std::int64_t> numbers_in(const Attributes& attributes);
/// Make those of all steps but the first unknown, in as many bytes.
/// @return false where there were none.
bool forget_numbers(Attributes& attributes, std::int64_t first_steps);

/// Number the steps of an inventory as the file has told, by their places. What is no step goes.
/// Steps before the first that is told are called by their places. One whose number is unknown, or
/// does not ascend, follows the one before.
void number_steps(Inventory& inventory, const std::map<std::int64_t, std::int64_t>& told);

}  // namespace iocomp::contents
