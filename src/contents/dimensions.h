// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// The attribute of a variable that names its dimensions.
inline constexpr const char* dimensions_attribute = "dimensions";
/// The dimension of the steps.
inline constexpr const char* time_dimension = "time";
/// The last dimension of complex numbers if a format splits them (Rules::splits_complex_numbers):
/// their real and imaginary parts. The name is that of nc-complex, which netCDF4-python contains.
inline constexpr const char* complex_dimension = "_pfnc_complex";

/// The dimensions of a variable in a file where they have names (see Rules::has_dimensions).
struct Dimensions {
  bool has_time = false;           ///< one more in front, called "time", for the steps
  std::vector<std::string> names;  ///< of the others, one for each of the shape
};

/// The dimensions that the variable's attribute "dimensions" tells: as many names as it has
/// dimensions, separated by blanks, with "time" in front or not. Without that attribute they are
/// called after their extents ("dim_64", a second one "dim_64_2"), and a file of all steps has
/// "time" in front.
/// @throws Error{invalid_argument} for other texts.
[[nodiscard]] Dimensions dimensions_of(const Variable& variable, bool one_step);

/// The other way, for a file that names them itself: adds that attribute. Nothing is added where
/// the names are those after the extents, or where they are none that the attribute can tell.
void note_dimensions(Attributes& attributes, const Variable& variable,
                     const Dimensions& dimensions);

/// The error for a variable without time that is put in a second step of a file of all steps.
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

  /// Look up or add the one of the parts of complex numbers. @return its number.
  std::size_t add_complex();

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> numbers_;  // by name
};

}  // namespace iocomp::contents
