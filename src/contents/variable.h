// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/conversion.h"
#include "array/element_type.h"

namespace iocomp::contents {

/// An attribute: `count` values of a type, or text (then `type` is uint8 and `is_text` set; no
/// terminating zero), or a list of texts (both are set; a zero ends each).
struct Attribute {
  array::ElementType type = array::ElementType::uint8;
  bool is_text = false;
  std::vector<std::byte> values{};  // count * size_bytes(type) bytes; of a list those of all texts
  bool is_list = false;

  /// The values; the bytes of a text; the texts of a list.
  [[nodiscard]] std::int64_t count() const noexcept {
    return is_list ? std::ranges::count(values, std::byte{0})
                   : static_cast<std::int64_t>(values.size() / array::size_bytes(type));
  }
  friend bool operator==(const Attribute&, const Attribute&) = default;
};
using Attributes = std::map<std::string, Attribute>;
/// The text of one that is text; the first of a list.
[[nodiscard]] std::string_view text_of(const Attribute& attribute) noexcept;
/// The texts of a list, each with its zero. They live as long as the attribute.
[[nodiscard]] std::vector<const char*> c_texts_of(const Attribute& attribute);
/// Copies of them.
[[nodiscard]] std::vector<std::string> texts_of(const Attribute& attribute);
/// One that is text.
[[nodiscard]] Attribute text_attribute(std::string_view text);
/// The same of bytes in a file of others: what follows a zero is no part of the text.
[[nodiscard]] Attribute stored_text_attribute(std::string_view bytes);
/// One that is a list of texts, which have no zeros.
[[nodiscard]] Attribute list_attribute(std::span<const std::string> texts);
/// The value of one that is a single real number or integer; nothing for others.
[[nodiscard]] std::optional<double> number_of(const Attribute& attribute);

/// The attributes of a variable of integers that say how numbers are packed in it.
inline constexpr const char* scale_attribute = "scale_factor";
inline constexpr const char* offset_attribute = "add_offset";
/// That which says that signed integers are to be read as unsigned: "true".
inline constexpr const char* unsigned_attribute = "_Unsigned";
/// That which says which values, as stored, are none.
inline constexpr const char* missing_attribute = "missing_value";
/// That which says that integers are truth values: "bool".
inline constexpr const char* dtype_attribute = "dtype";
/// The attribute of a variable that says what elements hold that nobody puts.
inline constexpr const char* fill_attribute = "_FillValue";

/// The scalar variable that tells the physical time of a step, and its attributes that say what
/// times are.
inline constexpr const char* time_variable = "time";
inline constexpr const char* units_attribute = "units";
inline constexpr const char* calendar_attribute = "calendar";

/// True for attributes that say what the stored values of a variable mean: how they are packed,
/// which of them are none, that they are truth values, and the unit and calendar of times.
[[nodiscard]] bool says_meaning(std::string_view variable, std::string_view attribute) noexcept;
/// The attributes of a variable that do so.
[[nodiscard]] Attributes meaning_of(std::string_view variable, const Attributes& all);

/// The type that the integers of a variable have, as its attributes say: unsigned, perhaps.
/// @param find  as for `packing`.
[[nodiscard]] array::ElementType type_said(
    array::ElementType stored, const std::function<const Attribute*(const char* name)>& find);

/// The packing of numbers in a variable of integers, as its attributes say. Nothing if they do not,
/// or it has others.
/// @param find  the attribute of a name; null where there is none.
/// @throws Error{invalid_argument} for a scale or an offset that is no number, or a scale of 0.
[[nodiscard]] std::optional<array::Packing> packing(
    array::ElementType stored, const std::function<const Attribute*(const char* name)>& find);

/// A variable as a back-end sees it at one step.
struct Variable {
  int id = 0;  ///< position in the order of definition
  std::string name;
  array::ElementType type = array::ElementType::float64;
  array::Shape shape;  ///< at that step
  /// The variable's attributes of these names, set in that step or before: formats with named
  /// dimensions want to know them before they make room.
  std::optional<std::string> dimensions = std::nullopt;  ///< text "dimensions": "time y x"
  std::optional<Attribute> fill_value = std::nullopt;    ///< "_FillValue"

  /// True if its fill value is one value of its type. Formats take no other.
  [[nodiscard]] bool has_fill_value() const noexcept {
    return fill_value && !fill_value->is_text && fill_value->type == type &&
           fill_value->count() == 1;
  }

  /// Bits of the mantissa of its values that the file keeps: see round_values. 0: all.
  int kept_bits = 0;

  [[nodiscard]] std::int64_t bytes() const noexcept {
    return array::elements(shape) * static_cast<std::int64_t>(array::size_bytes(type));
  }
};

/// The bits of the mantissa of floating-point values that the file keeps.
struct Kept {
  int bits = 0;               ///< 0: all
  bool of_all_kinds = false;  ///< else not of scalars, nor of what tells coordinates
};
/// Returns what a file keeps of a variable, by name and type. Throws if a setting asks for
/// something impossible.
using KeptBits = std::function<Kept(const Variable&)>;

/// Round values of a variable to what its file keeps of them, where they lie. Nothing happens where
/// that is all. The fill value stays as it is, and no other value becomes it.
/// @param is_swapped  the bytes of every number are reversed.
void round_values(const Variable& variable, std::span<std::byte> values, bool is_swapped = false);

/// @throws Error{invalid_argument} for a variable with more bytes than 63 bits count.
void check_bytes(const Variable& variable);

}  // namespace iocomp::contents
