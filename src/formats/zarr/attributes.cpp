// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/attributes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "base/utf8.h"
#include "contents/catalogue.h"
#include "contents/dimensions.h"
#include "contents/json_elements.h"
#include "contents/variable.h"
#include "formats/format.h"
#include "formats/words.h"

namespace iocomp::formats::zarr {
namespace {

using array::ElementType;

constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned three = 0;
    for (std::size_t i = at; i < at + 3; ++i) {
      three = three << 8U | (i < bytes.size() ? std::to_integer<unsigned>(bytes[i]) : 0U);
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += at + digit <= bytes.size() ? digits[three >> (18U - 6U * digit) & 63U] : '=';
    }
  }
  return text;
}

// xarray keeps real fill values as the bytes of a float64, in base 64, so that none is lost.
Json as_xarray_has_it(const Json& element) {
  if (element.is_array()) {
    return Json::array({as_xarray_has_it(element[0]), as_xarray_has_it(element[1])});
  }
  std::vector<std::byte> bytes;
  contents::append_element(ElementType::float64, element, bytes);
  return base64(bytes);
}

// The other way; what is not in this form stays as it is.
Json number_of_xarray(const Json& value) {
  if (value.is_array() && value.size() == 2) {
    return Json::array({number_of_xarray(value[0]), number_of_xarray(value[1])});
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  if (text.size() != 12 || text.find_first_not_of(digits) != 11 || text.back() != '=') {
    return value;
  }
  std::uint64_t first = 0;  // ten digits, and four bits of the last one
  for (const char digit : text.substr(0, 10)) {
    first = first << 6U | digits.find(digit);
  }
  std::array<std::byte, 8> bytes{};
  const std::uint64_t all = first << 4U | digits.find(text[10]) >> 2U;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes.at(i) = static_cast<std::byte>(all >> (56U - 8U * i));
  }
  return contents::json_element(ElementType::float64, bytes.data());
}

// A fill value is that of the attribute: Zarr's own is what chunks have that nobody has written.
std::optional<Attribute> fill_from(const Json& value, ElementType type) {
  Attribute attribute{type, false, {}};
  const Outcome fits = outcome_of([&] {
    const bool is_real = array::is_floating(type) || array::is_complex(type);
    contents::append_element(type, is_real ? number_of_xarray(value) : value, attribute.values);
  });
  return fits.ok() ? std::optional{attribute} : std::nullopt;
}

// A single number that JSON lacks stays in its list: "NaN" alone is a text.
Json json(const Attribute& attribute) {
  if (attribute.is_list) {
    return contents::texts_of(attribute);
  }
  const std::string text{contents::text_of(attribute)};
  if (attribute.is_text || (attribute.type == ElementType::character && is_utf8(text))) {
    return text;
  }
  const Json values = contents::json_elements(attribute);
  return values.size() == 1 && values.front().is_number() ? values.front() : values;
}

std::optional<ElementType> type_of(const Json& value) {
  if (value.is_number_integer()) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX
               ? ElementType::uint64
               : ElementType::int64;
  }
  const bool is_word =
      value.is_string() && (value == "NaN" || value == "Infinity" || value == "-Infinity");
  return value.is_number() || is_word ? std::optional{ElementType::float64} : std::nullopt;
}

std::optional<Attribute> attribute_from(const Json& value) {
  Attribute attribute;
  if (value.is_string()) {
    return contents::text_attribute(value.get<std::string>());
  }
  Json values = value.is_array() ? value : Json::array({value});
  for (auto& each : values) {
    if (each.is_boolean()) {
      each = each.get<bool>() ? 1 : 0;
    }
  }
  const bool has_words = std::ranges::any_of(
      values, [](const Json& each) { return each.is_string() && !type_of(each); });
  if (has_words && std::ranges::all_of(values, &Json::is_string)) {
    return contents::list_attribute(value.get<std::vector<std::string>>());
  }
  attribute.type = ElementType::int64;
  for (const auto& each : values) {
    const auto type = type_of(each);
    if (!type) {
      return std::nullopt;
    }
    attribute.type = std::max(attribute.type, *type);  // float64 comes last
  }
  const auto is_negative = [](const Json& each) { return !each.is_number_unsigned() && each < 0; };
  if (attribute.type == ElementType::uint64 && std::ranges::any_of(values, is_negative)) {
    attribute.type = ElementType::float64;
  }
  for (const auto& each : values) {
    contents::append_element(attribute.type, each, attribute.values);
  }
  return attribute;
}

}  // namespace

void lay_over(Json& all, const Attributes& attributes, const Variable* variable) {
  for (const auto& [name, attribute] : attributes) {
    if (variable == nullptr) {
      all[name] = json(attribute);
    } else if (name == contents::fill_attribute && variable->has_fill_value()) {
      const Json element = contents::json_element(variable->type, fill_bytes(*variable).data());
      all[name] = array::is_floating(variable->type) || array::is_complex(variable->type)
                      ? as_xarray_has_it(element)
                      : element;
    } else if (name != contents::dimensions_attribute) {
      all[name] = json(attribute);
    }
  }
}

Attributes attributes_from(const Json& all, const Array* array) {
  Attributes attributes;
  if (array != nullptr && array->is_bool) {
    attributes[contents::dtype_attribute] =
        contents::text_attribute("bool");  // as iocomp itself writes them
  }
  for (const auto& [name, value] : all.items()) {
    const bool is_fill = array != nullptr && name == contents::fill_attribute;
    auto attribute = is_fill ? fill_from(value, array->type) : std::nullopt;
    if (attribute || (attribute = attribute_from(value))) {
      attributes[name] = std::move(*attribute);
    }
  }
  return attributes;
}

}  // namespace iocomp::formats::zarr
