// SPDX-License-Identifier: BSD-3-Clause
#include "contents/dimensions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "contents/variable.h"

namespace iocomp::contents {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream{text};
  return {std::istream_iterator<std::string>{stream}, {}};
}

std::vector<std::string> names_by_extent(const array::Shape& shape) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < static_cast<std::size_t>(shape.dimensions); ++d) {
    const std::string name = "dim_" + std::to_string(shape.extent[d]);
    const auto before =
        std::count(shape.extent.begin(), shape.extent.begin() + static_cast<std::ptrdiff_t>(d),
                   shape.extent[d]);
    names.push_back(before == 0 ? name : name + '_' + std::to_string(before + 1));
  }
  return names;
}

}  // namespace

Dimensions dimensions_of(const Variable& variable, bool one_step) {
  if (!variable.dimensions) {
    return {!one_step, names_by_extent(variable.shape)};
  }
  Dimensions found{false, words(*variable.dimensions)};
  const auto wanted = static_cast<std::size_t>(variable.shape.dimensions);
  if (found.names.size() == wanted + 1 && found.names.front() == time_dimension) {
    found.has_time = true;
    found.names.erase(found.names.begin());
  }
  const bool has_time_elsewhere =
      std::find(found.names.begin(), found.names.end(), time_dimension) != found.names.end();
  if (found.names.size() != wanted || has_time_elsewhere) {
    throw Error{ErrorCode::invalid_argument,
                "the attribute \"dimensions\" of the variable \"" + variable.name + "\" is \"" +
                    *variable.dimensions + "\": it must name its " + std::to_string(wanted) +
                    " dimensions, separated by blanks, with \"time\" in front of them if it has "
                    "values for every step, and nowhere else"};
  }
  return found;
}

void note_dimensions(Attributes& attributes, const Variable& variable,
                     const Dimensions& dimensions) {
  Variable described = variable;
  described.dimensions = dimensions.has_time ? time_dimension : "";
  for (const auto& name : dimensions.names) {
    *described.dimensions += (described.dimensions->empty() ? "" : " ") + name;
  }
  Dimensions found;
  (void)outcome_of([&] { found = dimensions_of(described, false); });
  if (!found.names.empty() && found.names == dimensions.names &&
      found.names != names_by_extent(variable.shape)) {
    attributes.emplace(dimensions_attribute, text_attribute(*described.dimensions));
  }
}

Error once_only(const Variable& variable, std::int64_t first, std::int64_t second) {
  return Error{ErrorCode::unsupported,
               "the variable \"" + variable.name + "\" has no dimension time (its attribute " +
                   "\"dimensions\" is \"" + variable.dimensions.value_or("") +
                   "\"), so it can be put in one step only: in step " + std::to_string(first) +
                   ", not in step " + std::to_string(second)};
}

std::vector<std::size_t> DimensionTable::add(const Variable& variable,
                                             const Dimensions& dimensions) {
  const std::size_t before = entries_.size();
  std::vector<std::size_t> numbers;
  for (std::size_t d = 0; d < dimensions.names.size(); ++d) {
    const std::string& name = dimensions.names[d];
    const std::int64_t length = variable.shape.extent[d];
    const auto [known, is_new] = numbers_.try_emplace(name, entries_.size());
    numbers.push_back(known->second);
    if (is_new) {
      entries_.push_back({name, length, variable.name});
    } else if (const Entry other = entries_[known->second]; other.length != length) {
      for (; entries_.size() > before; entries_.pop_back()) {
        numbers_.erase(entries_.back().name);
      }
      throw Error{ErrorCode::invalid_argument,
                  "the dimension \"" + name + "\" of the variable \"" + variable.name +
                      "\" would have length " + std::to_string(length) + ", for the variable \"" +
                      other.first_user + "\" it has " + std::to_string(other.length)};
    }
  }
  return numbers;
}

std::size_t DimensionTable::add_complex() {
  const auto [known, is_new] = numbers_.try_emplace(complex_dimension, entries_.size());
  if (is_new) {
    entries_.push_back({complex_dimension, 2, {}});
  }
  return known->second;
}

}  // namespace iocomp::contents
