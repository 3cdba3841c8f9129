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
#include <vector>

#include "array/element_type.h"
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

std::string base64(std::span<const std::byte> bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
    if (array != nullptr && name == contents::fill_attribute) {
      attributes[name] = Attribute{array->type, false, array->fill};
    } else if (auto attribute = attribute_from(value)) {
      attributes[name] = std::move(*attribute);
    }
  }
  return attributes;
}

}  // namespace iocomp::formats::zarr
