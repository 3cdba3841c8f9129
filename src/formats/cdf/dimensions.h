// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

constexpr const char* time_name = "time";

/// The dimensions of a variable in a netCDF file.
struct Dimensions {
  bool has_time = false;           ///< one more in front, called "time", for the steps
  std::vector<std::string> names;  ///< of the others, one for each of the shape
};

/// What the variable's attribute "dimensions" says: as many names as it has dimensions, separated
/// by blanks, with "time" in front or not. Without that attribute they are called after their
/// extents ("dim_64", a second one "dim_64_2"), and a file of all steps has "time" in front.
/// @throws Error{invalid_argument} where the attribute says something else.
[[nodiscard]] Dimensions dimensions_of(const Variable& variable, bool one_step);

/// What to say of a variable without time that is put in a second step of a file of all steps.
[[nodiscard]] Error once_only(const Variable& variable, std::int64_t first, std::int64_t second);

/// The dimensions of a file in the making. A name has one length.
class DimensionTable {
 public:
  struct Entry {
    std::string name;
    std::int64_t length = 0;
    std::string first_user;
  };
  /// Look them up or add them, without time.
  /// @return their numbers in the order of the shape.
  /// @throws Error{invalid_argument} where one has another length already; then none was added.
  std::vector<std::size_t> add(const Variable& variable, const Dimensions& dimensions);

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace iocomp::formats::cdf
