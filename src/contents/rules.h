// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "array/element_type.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// Some of the element types.
class Types {
 public:
  [[nodiscard]] static constexpr Types all() { return Types{~0U}; }
  [[nodiscard]] constexpr Types without(std::initializer_list<array::ElementType> types) const {
    Types left = *this;
    for (const auto type : types) {
      left.bits_ &= ~bit(type);
    }
    return left;
  }
  [[nodiscard]] constexpr bool has(array::ElementType type) const {
    return (bits_ & bit(type)) != 0;
  }
  friend constexpr bool operator==(const Types&, const Types&) = default;

 private:
  explicit constexpr Types(std::uint32_t bits) : bits_{bits} {}
  static constexpr std::uint32_t bit(array::ElementType type) {
    return std::uint32_t{1} << static_cast<unsigned>(type);
  }

  std::uint32_t bits_;
};

/// The limits of a format. A call that goes beyond them is refused on all ranks: see Catalogue.
/// formats/rules.h has the rules of each format, from which the table in
/// docs/developers/formats.md is made.
struct Rules {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  std::string_view format;     ///< "hdf5"
  std::string_view variant{};  ///< the setting that makes it this one; empty: there is one

  std::size_t most_name_bytes = 255;
  /// Variables may be called "a/b".
  bool has_groups = true;
  /// Names must be those that netCDF allows. This holds for dimensions too.
  bool has_netcdf_names = false;
  /// Readers take a group at the root for a step if its name is a number.
  bool has_steps_at_root = false;
  /// In the file, an attribute of a variable is called "<variable>/<name>". So names of attributes
  /// have no '/'.
  bool joins_names = false;
  /// Readers take a backslash in the name of a variable for a '/'.
  bool has_backslashes = true;
  /// Names that mean something else to readers. One that ends with '*' stands for all names that
  /// begin so.
  std::span<const std::string_view> reserved_variables{};
  std::span<const std::string_view> reserved_attributes{};
  std::span<const std::string_view> reserved_dimensions{};

  Types types = Types::all();
  /// In the file, complex numbers are real ones with one more dimension, and so is the fill value
  /// one real number.
  bool splits_complex_numbers = false;
  /// The length of one text: the last dimension of an array of characters.
  std::int64_t most_characters = no_limit;

  Types attribute_types = Types::all();
  bool has_empty_attributes = true;
  bool has_empty_texts = true;
  std::int64_t least_texts_in_list = 1;     ///< of an attribute; no_limit: it has no lists of texts
  std::int64_t most_text_bytes = no_limit;  ///< of an attribute
  std::int64_t most_attribute_bytes = no_limit;  ///< of one of numbers
  /// Readers refuse a file of several steps in which an attribute changes its type.
  bool keeps_attribute_types = false;
  /// The room for names and attributes. It is made with the first put, for twice as much as they
  /// take by then, and for at least this.
  std::int64_t header_bytes = no_limit;

  /// The attribute "dimensions" names those of a variable. A name has one length in a file.
  bool has_dimensions = false;
  /// A file of several steps has the variables of its first step in all of them, with the shapes
  /// and fill values that they have there.
  bool keeps_first_definitions = false;
  /// Nothing in the file tells steps apart, so it has only one.
  bool has_one_step = false;

  /// "hdf5 with layout = \"flat\""
  [[nodiscard]] std::string name() const;
};

/// @throws Error{invalid_argument} for names that no format has; Error{unsupported} naming format
/// and variable for what this one cannot hold.
void check(const Rules& rules, const Variable& variable);

/// The same for the name of one of its dimensions.
void check_dimension(const Rules& rules, const Variable& variable, const std::string& name);

/// The same for an attribute by itself.
/// @param owner  the variable that gets it; null: the file.
void check(const Rules& rules, const Variable* owner, const std::string& name,
           const Attribute& attribute);

}  // namespace iocomp::contents
