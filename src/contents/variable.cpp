// SPDX-License-Identifier: BSD-3-Clause
#include "contents/variable.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "array/conversion.h"
#include "array/element_type.h"
#include "array/real_number.h"
#include "array/rounding.h"
#include "base/error.h"

namespace iocomp::contents {

std::string_view text_of(const Attribute& attribute) noexcept {
  const std::string_view all{reinterpret_cast<const char*>(attribute.values.data()),
                             attribute.values.size()};
  return attribute.is_list ? all.substr(0, all.find('\0')) : all;
}

std::vector<const char*> c_texts_of(const Attribute& attribute) {
  std::vector<const char*> texts;
  const auto* const first = reinterpret_cast<const char*>(attribute.values.data());
  const std::int64_t count = attribute.count();
  for (std::size_t at = 0; std::ssize(texts) < count; at += std::strlen(texts.back()) + 1) {
    texts.push_back(first + at);
  }
  return texts;
}

std::vector<std::string> texts_of(const Attribute& attribute) {
  const auto texts = c_texts_of(attribute);
  return {texts.begin(), texts.end()};
}

Attribute list_attribute(std::span<const std::string> texts) {
  Attribute attribute{.is_text = true, .is_list = true};
  for (const auto& text : texts) {
    const auto bytes = std::as_bytes(std::span{text.c_str(), text.size() + 1});
    attribute.values.insert(attribute.values.end(), bytes.begin(), bytes.end());
  }
  return attribute;
}

Attribute text_attribute(std::string_view text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {array::ElementType::uint8, true, {bytes.begin(), bytes.end()}};
}

Attribute stored_text_attribute(std::string_view bytes) {
  return text_attribute(bytes.substr(0, bytes.find('\0')));
}

std::optional<double> number_of(const Attribute& attribute) {
  return attribute.is_text || attribute.count() != 1
             ? std::nullopt
             : array::real_number(attribute.type, attribute.values.data());
}

bool says_meaning(std::string_view variable, std::string_view attribute) noexcept {
  return attribute == scale_attribute || attribute == offset_attribute ||
         attribute == unsigned_attribute || attribute == missing_attribute ||
         attribute == fill_attribute || attribute == dtype_attribute ||
         (variable == time_variable &&
          (attribute == units_attribute || attribute == calendar_attribute));
}

Attributes meaning_of(std::string_view variable, const Attributes& all) {
  Attributes found;
  std::ranges::copy_if(all, std::inserter(found, found.end()), [&](const auto& attribute) {
    return says_meaning(variable, attribute.first);
  });
  return found;
}

array::ElementType type_said(array::ElementType stored,
                             const std::function<const Attribute*(const char* name)>& find) {
  using array::ElementType;
  const Attribute* const said = find(unsigned_attribute);
  if (said == nullptr || !said->is_text || text_of(*said) != "true") {
    return stored;
  }
  return stored == ElementType::int8    ? ElementType::uint8
         : stored == ElementType::int16 ? ElementType::uint16
         : stored == ElementType::int32 ? ElementType::uint32
         : stored == ElementType::int64 ? ElementType::uint64
                                        : stored;
}

namespace {

// The values of an attribute that variables of a type can hold. Where the attribute has another
// type, as in JSON, other values are left out; of an unsigned variable, negative ones are its bits.
std::vector<std::int64_t> held_values(const Attribute& attribute, array::ElementType stored) {
  std::vector<std::int64_t> values;
  if (attribute.is_text) {
    return values;
  }
  const std::size_t bytes = array::size_bytes(attribute.type);
  if (array::is_integer(attribute.type) && bytes == array::size_bytes(stored)) {
    values.resize(static_cast<std::size_t>(attribute.count()));
    array::Conversion{attribute.type, array::ElementType::int64}.convert(
        attribute.values, reinterpret_cast<std::byte*>(values.data()));
    return values;
  }
  const int bits = 8 * static_cast<int>(array::size_bytes(stored));
  const bool is_signed = stored <= array::ElementType::int64;  // these come first
  for (std::size_t at = 0; at < attribute.values.size(); at += bytes) {
    const auto found = array::real_number(attribute.type, attribute.values.data() + at);
    const double value = found.value_or(std::nan(""));
    const bool fits = value >= -std::ldexp(1.0, bits - 1) &&
                      value < std::ldexp(1.0, is_signed || bits == 64 ? bits - 1 : bits);
    if (fits && value == std::floor(value)) {
      const auto whole = static_cast<std::int64_t>(value);
      values.push_back(is_signed || whole >= 0 || bits == 64 ? whole : whole + (1LL << bits));
    }
  }
  return values;
}

}  // namespace

std::optional<array::Packing> packing(
    array::ElementType stored, const std::function<const Attribute*(const char* name)>& find) {
  const Attribute* const scale = find(scale_attribute);
  const Attribute* const offset = find(offset_attribute);
  if (!array::is_integer(stored) || (scale == nullptr && offset == nullptr)) {
    return std::nullopt;
  }
  const auto number = [](const Attribute* attribute, const char* name, double without) {
    const auto found = attribute == nullptr ? without : number_of(*attribute);
    if (!found || !std::isfinite(*found) || (name == scale_attribute && *found == 0)) {
      throw Error{ErrorCode::invalid_argument,
                  std::string{"the attribute "} + name + " is not one number" +
                      (name == scale_attribute ? " other than 0" : "")};
    }
    return *found;
  };
  array::Packing packing{.scale = number(scale, scale_attribute, 1),
                         .offset = number(offset, offset_attribute, 0)};
  const auto stored_values = [&](const char* name) {
    const Attribute* const found = find(name);
    return found == nullptr ? std::vector<std::int64_t>{} : held_values(*found, stored);
  };
  if (const auto fill = stored_values(fill_attribute); fill.size() == 1) {
    packing.fill = fill.front();
  }
  packing.missing = stored_values(missing_attribute);
  if (!packing.fill && !packing.missing.empty()) {
    packing.fill = packing.missing.front();
  }
  std::erase(packing.missing, packing.fill.value_or(0));
  return packing;
}

void round_values(const Variable& variable, std::span<std::byte> values, bool is_swapped) {
  if (variable.kept_bits > 0) {
    array::round_to_bits(variable.type, variable.kept_bits, values,
                         variable.has_fill_value()
                             ? std::span<const std::byte>{variable.fill_value->values}
                             : std::span<const std::byte>{},
                         is_swapped);
  }
}

void check_bytes(const Variable& variable) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  if (array::elements(variable.shape) > std::numeric_limits<std::int64_t>::max() / element) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + variable.name + "\" (" + array::text(variable.shape) + ", " +
                    std::to_string(element) + " bytes each) has more bytes than 63 bits count"};
  }
}

}  // namespace iocomp::contents
