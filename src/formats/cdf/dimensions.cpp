// SPDX-License-Identifier: BSD-3-Clause
#include "formats/cdf/dimensions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/cdf/types.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
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
  if (found.names.size() == wanted + 1 && found.names.front() == time_name) {
    found.has_time = true;
    found.names.erase(found.names.begin());
  }
  const bool has_time_elsewhere =
      std::find(found.names.begin(), found.names.end(), time_name) != found.names.end();
  if (found.names.size() != wanted || has_time_elsewhere) {
    throw Error{ErrorCode::invalid_argument,
                "the attribute \"dimensions\" of the variable \"" + variable.name + "\" is \"" +
                    *variable.dimensions + "\": it must name its " + std::to_string(wanted) +
                    " dimensions, separated by blanks, with \"time\" in front of them if it has "
                    "values for every step, and nowhere else"};
  }
  for (const auto& name : found.names) {
    check_name(name, "netCDF",
               "the dimension \"" + name + "\" of the variable \"" + variable.name + '"');
  }
  return found;
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
  std::vector<Entry> added = entries_;
  std::vector<std::size_t> numbers;
  for (std::size_t d = 0; d < dimensions.names.size(); ++d) {
    const std::string& name = dimensions.names[d];
    const std::int64_t length = variable.shape.extent[d];
    const auto known = std::find_if(added.begin(), added.end(),
                                    [&](const Entry& entry) { return entry.name == name; });
    numbers.push_back(static_cast<std::size_t>(known - added.begin()));
    if (known == added.end()) {
      added.push_back({name, length, variable.name});
    } else if (known->length != length) {
      throw Error{ErrorCode::invalid_argument,
                  "the dimension \"" + name + "\" of the variable \"" + variable.name +
                      "\" would have length " + std::to_string(length) + ", for the variable \"" +
                      known->first_user + "\" it has " + std::to_string(known->length)};
    }
  }
  entries_ = std::move(added);
  return numbers;
}

}  // namespace iocomp::formats::cdf
