// SPDX-License-Identifier: BSD-3-Clause
#include "contents/rules.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"
#include "base/utf8.h"
#include "contents/composed.h"
#include "contents/variable.h"

namespace iocomp::contents {
namespace {

// These rules hold for all formats.

void check_name(const std::string& name, const char* what) {
  const bool parts_filled = !name.empty() && name.front() != '/' && name.back() != '/' &&
                            name.find("//") == std::string::npos;
  const bool printable =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  if (!is_utf8(name)) {
    throw Error{ErrorCode::invalid_argument,
                std::string{"the name \""} + name + "\" of " + what + " is not UTF-8"};
  }
  if (!parts_filled || !printable || name == "." || name == ".." || name.size() > 255) {
    throw Error{ErrorCode::invalid_argument,
                std::string{"the name \""} + name + "\" of " + what +
                    " is not allowed: 1 to 255 printable characters; '/' separates "
                    "groups and may neither begin, end nor be doubled"};
  }
}

// HDF5 takes such parts for this folder and the one above it.
bool has_part_of_dots(std::string_view name) {
  for (std::string_view rest = name;;) {
    const auto slash = rest.find('/');
    const auto part = rest.substr(0, slash);
    if (part == "." || part == "..") {
      return true;
    }
    if (slash == std::string_view::npos) {
      return false;
    }
    rest.remove_prefix(slash + 1);
  }
}

// Room for this is left to what formats add: alignment, headers, the steps before.
constexpr std::int64_t most_bytes_of_variable = std::int64_t{1} << 62;

void check_bytes_of(const Variable& variable) {
  check_bytes(variable);
  if (variable.bytes() > most_bytes_of_variable) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + variable.name + "\" (" + array::text(variable.shape) +
                    ") has " + std::to_string(variable.bytes()) + " bytes; a file has room for " +
                    std::to_string(most_bytes_of_variable)};
  }
}

// These rules differ from format to format.

class Refusal {
 public:
  Refusal(const Rules& rules, std::string what) : rules_{&rules}, what_{std::move(what)} {}

  void unless(bool fits, const std::string& why) const {
    if (!fits) {
      throw Error{ErrorCode::unsupported, rules_->name() + " cannot hold " + what_ + ": " + why};
    }
  }

 private:
  const Rules* rules_;
  std::string what_;
};

bool is_number(std::string_view name) {
  return !name.empty() && (name == "0" || name.front() != '0') &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

void check_reserved(const Refusal& refuse, std::string_view name,
                    std::span<const std::string_view> reserved) {
  for (const auto other : reserved) {
    const bool is_it =
        other.ends_with('*') ? name.starts_with(other.substr(0, other.size() - 1)) : name == other;
    refuse.unless(!is_it,
                  "to its readers the name " + std::string{other} + " means something else");
  }
}

void check_netcdf_name(const Refusal& refuse, std::string_view name) {
  const auto first = static_cast<unsigned char>(name.front());
  const bool begins_well = std::isalnum(first) != 0 || first == '_' || first >= 0x80;
  refuse.unless(begins_well && name.find('/') == std::string_view::npos && name.back() != ' ',
                "names of netCDF begin with a letter, a digit or '_', contain no '/', and do not "
                "end with a blank");
  refuse.unless(is_composed(name),
                "netCDF looks for names in composed form (Unicode NFC), which this one does not "
                "have");
}

bool has_equal_parts(const Attribute& attribute) {
  const std::span<const std::byte> values = attribute.values;
  const std::size_t part = array::number_bytes(attribute.type);
  return std::ranges::equal(values.subspan(std::min(part, values.size())),
                            values.first(values.size() - std::min(part, values.size())));
}

void check_name_in(const Refusal& refuse, const Rules& rules, const std::string& name) {
  refuse.unless(name.size() <= rules.most_name_bytes,
                "its name has " + std::to_string(name.size()) + " bytes, at most " +
                    std::to_string(rules.most_name_bytes) + " are allowed");
  if (rules.has_netcdf_names) {
    check_netcdf_name(refuse, name);
  }
}

}  // namespace

std::string Rules::name() const {
  return std::string{format} + (variant.empty() ? "" : " with " + std::string{variant});
}

void check(const Rules& rules, const Variable& variable) {
  check_name(variable.name, "a variable");
  if (has_part_of_dots(variable.name)) {
    throw Error{
        ErrorCode::invalid_argument,
        "the name \"" + variable.name +
            "\" of a variable is not allowed: its parts between '/' may not be \".\" or \"..\""};
  }
  check_bytes_of(variable);
  const Refusal refuse{rules, "the variable \"" + variable.name + '"'};
  check_name_in(refuse, rules, variable.name);
  const auto slash = variable.name.find('/');
  const bool is_in_group = slash != std::string::npos;
  refuse.unless(rules.has_groups || !is_in_group, "it has no groups, so that names have no '/'");
  refuse.unless(rules.has_backslashes || variable.name.find('\\') == std::string::npos,
                "its readers take '\\' in the name of a variable for '/'");
  refuse.unless(!rules.has_steps_at_root || !is_in_group ||
                    !is_number(std::string_view{variable.name}.substr(0, slash)),
                "readers take a group at the root for a step whose name is a number");
  check_reserved(refuse, variable.name, rules.reserved_variables);
  refuse.unless(rules.types.has(variable.type),
                "it has no elements of type " + std::string{array::name(variable.type)});
  const int dimensions = variable.shape.dimensions;
  if (variable.type == array::ElementType::character && dimensions > 0) {
    const auto length = variable.shape.extent.at(static_cast<std::size_t>(dimensions) - 1);
    refuse.unless(length <= rules.most_characters,
                  "its texts have " + std::to_string(length) + " bytes, at most " +
                      std::to_string(rules.most_characters) + " are allowed");
  }
}

void check_dimension(const Rules& rules, const Variable& variable, const std::string& name) {
  const Refusal refuse{rules,
                       "the dimension \"" + name + "\" of the variable \"" + variable.name + '"'};
  check_name(name, "a dimension");
  check_name_in(refuse, rules, name);
  check_reserved(refuse, name, rules.reserved_dimensions);
}

void check(const Rules& rules, const Variable* owner, const std::string& name,
           const Attribute& attribute) {
  check_name(name, "an attribute");
  const Refusal refuse{rules, "the attribute \"" + name + '"' +
                                  (owner == nullptr ? std::string{" of the file"}
                                                    : " of the variable \"" + owner->name + '"')};
  check_name_in(refuse, rules, name);
  refuse.unless(!rules.joins_names || name.find('/') == std::string::npos,
                "readers take what stands before '/' for a variable");
  check_reserved(refuse, name, rules.reserved_attributes);
  if (attribute.is_text &&
      !is_utf8(std::string_view{reinterpret_cast<const char*>(attribute.values.data()),
                                attribute.values.size()})) {
    throw Error{ErrorCode::invalid_argument, "the text of the attribute \"" + name +
                                                 "\" is not UTF-8, which readers take it for"};
  }
  const auto bytes = static_cast<std::int64_t>(attribute.values.size());
  const auto most = attribute.is_text ? rules.most_text_bytes : rules.most_attribute_bytes;
  refuse.unless(bytes <= most, "it has " + std::to_string(bytes) + " bytes, at most " +
                                   std::to_string(most) + " are allowed");
  if (attribute.is_list) {
    refuse.unless(rules.least_texts_in_list < Rules::no_limit,
                  "it is a list of texts; join them, as CF does with blanks in flag_meanings");
    refuse.unless(attribute.count() >= rules.least_texts_in_list,
                  "to its readers a list of one text is a text; set it as one");
  }
  refuse.unless(
      bytes > 0 || (attribute.is_text ? rules.has_empty_texts : rules.has_empty_attributes),
      "it is empty");
  const bool is_split = rules.splits_complex_numbers && owner != nullptr &&
                        name == fill_attribute && array::is_complex(attribute.type);
  refuse.unless(!is_split || has_equal_parts(attribute),
                "its real and imaginary part must be the same number");
  refuse.unless(attribute.is_text || is_split || rules.attribute_types.has(attribute.type),
                "it has no attributes of type " + std::string{array::name(attribute.type)});
}

}  // namespace iocomp::contents
