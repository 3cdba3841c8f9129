// SPDX-License-Identifier: BSD-3-Clause
#include "contents/step_numbers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "contents/description.h"
#include "contents/variable.h"

namespace iocomp::contents {

namespace {

Attribute attribute_of(const std::vector<std::int64_t>& numbers) {
  const auto bytes = std::as_bytes(std::span{numbers});
  return {array::ElementType::int64, false, {bytes.begin(), bytes.end()}};
}

}  // namespace

Variable step_numbers_variable() {
  Variable variable;
  variable.id = std::numeric_limits<int>::max();  // behind those of the program
  variable.name = step_numbers_name;
  variable.type = array::ElementType::int64;
  return variable;
}

StepNumbers::StepNumbers(std::map<std::int64_t, std::int64_t> earlier, std::int64_t earlier_steps)
    : numbers_{std::move(earlier)},
      called_by_place_{numbers_.empty() ? std::max<std::int64_t>(earlier_steps, 0) : 0},
      are_needed_{!numbers_.empty()} {}

void StepNumbers::tell(const Description& description, std::int64_t from) {
  numbers_.erase(numbers_.lower_bound(from), numbers_.end());
  for (const auto& placed : description.contents) {
    numbers_.insert_or_assign(placed.step, placed.number_of_step());
    are_needed_ = are_needed_ || placed.number_of_step() != placed.step;
  }
}

std::int64_t StepNumbers::end() const noexcept {
  return numbers_.empty() ? called_by_place_ : numbers_.rbegin()->first + 1;
}

std::int64_t StepNumbers::at(std::int64_t place) const {
  const auto found = numbers_.find(place);
  return found != numbers_.end() ? found->second : place < called_by_place_ ? place : no_step;
}

Attribute StepNumbers::attribute(std::int64_t steps) const {
  std::vector<std::int64_t> numbers;
  for (std::int64_t place = 0; place < steps; ++place) {
    numbers.push_back(at(place));
  }
  return attribute_of(numbers);
}

std::vector<std::int64_t> numbers_in(const Attributes& attributes) {
  const auto found = attributes.find(step_numbers_name);
  if (found == attributes.end() || found->second.is_text ||
      found->second.type != array::ElementType::int64) {
    return {};
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(found->second.count()));
  std::ranges::copy(found->second.values, std::as_writable_bytes(std::span{numbers}).begin());
  return numbers;
}

bool forget_numbers(Attributes& attributes, std::int64_t first_steps) {
  auto numbers = numbers_in(attributes);
  if (std::ssize(numbers) <= first_steps) {
    return false;
  }
  std::fill(numbers.begin() + first_steps, numbers.end(), unknown_number);
  attributes.insert_or_assign(step_numbers_name, attribute_of(numbers));
  return true;
}

void number_steps(Inventory& inventory, const std::map<std::int64_t, std::int64_t>& told) {
  if (told.empty()) {
    return;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  std::int64_t before = -1;
  inventory.tells_numbers = true;
  std::set<std::int64_t> none;
  for (const auto step : inventory.steps) {
    const auto found = told.find(step);
    const bool is_before_all = step < told.begin()->first;
    const std::int64_t number = is_before_all         ? step
                                : found == told.end() ? no_step
                                                      : found->second;
    if (number == no_step) {
      none.insert(step);
      continue;
    }
    const bool ascends = number > before && number < most;
    inventory.tells_numbers = inventory.tells_numbers && ascends;
    before = ascends ? number : before + 1;
    inventory.names.insert_or_assign(step, StepName{.number = before});
  }
  const auto is_none = [&none](std::int64_t step) { return none.contains(step); };
  std::erase_if(inventory.steps, is_none);
  std::erase_if(inventory.contents, [&](const Placed& placed) { return is_none(placed.step); });
  for (auto& placed : inventory.contents) {
    placed.number = inventory.names.at(placed.step).number;
  }
}

}  // namespace iocomp::contents
