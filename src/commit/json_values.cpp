// SPDX-License-Identifier: BSD-3-Clause
#include "commit/json_values.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "base/utf8.h"
#include "contents/json_elements.h"
#include "contents/variable.h"

namespace iocomp::commit {
namespace {

// Used for bytes that are not UTF-8, because JSON text must be UTF-8.
std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string digits;
  for (const auto byte : bytes) {
    digits += "0123456789abcdef"[std::to_integer<unsigned>(byte >> 4)];
    digits += "0123456789abcdef"[std::to_integer<unsigned>(byte & std::byte{0xF})];
  }
  return digits;
}

}  // namespace

Json json(const contents::Attribute& attribute) {
  if (attribute.is_list) {
    Json texts = Json::array();
    for (const auto& text : contents::texts_of(attribute)) {
      const auto bytes = std::as_bytes(std::span{text});
      texts.push_back(is_utf8(text) ? Json(text) : Json{{"bytes", hexadecimal(bytes)}});
    }
    return {{"type", "texts"}, {"value", std::move(texts)}};
  }
  if (attribute.is_text) {
    std::string text{contents::text_of(attribute)};
    return is_utf8(text) ? Json{{"type", "text"}, {"value", std::move(text)}}
                         : Json{{"type", "text"}, {"bytes", hexadecimal(attribute.values)}};
  }
  return {{"type", std::string{array::name(attribute.type)}},
          {"value", contents::json_elements(attribute)}};
}

namespace {

std::vector<std::byte> bytes_from(const Json& value) {
  const auto digits = value.get<std::string>();
  std::vector<std::byte> bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned byte = 0;
    const char* const end = digits.data() + 2 * i + 2;
    if (std::from_chars(end - 2, end, byte, 16).ptr != end) {
      contents::refuse_json(value, "hexadecimal digits");
    }
    bytes[i] = static_cast<std::byte>(byte);
  }
  if (digits.size() % 2 != 0) {
    contents::refuse_json(value, "hexadecimal digits");
  }
  return bytes;
}

contents::Attribute texts_from(const Json& value) {
  if (!value.is_array() || value.empty()) {
    contents::refuse_json(value, "a list of texts");
  }
  std::vector<std::string> texts;
  for (const auto& each : value) {
    if (each.is_string()) {
      texts.push_back(each.get<std::string>());
    } else {
      const auto bytes = bytes_from(each.at("bytes"));
      texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    if (texts.back().find('\0') != std::string::npos) {
      contents::refuse_json(value, "texts without zeros");
    }
  }
  return contents::list_attribute(texts);
}

contents::Attribute attribute_from(const Json& described) {
  contents::Attribute attribute;
  const auto type = described.at("type").get<std::string>();
  if (type == "text" && described.contains("bytes")) {
    attribute.is_text = true;
    attribute.values = bytes_from(described.at("bytes"));
    return attribute;
  }
  const Json& value = described.at("value");
  if (type == "text") {
    return contents::text_attribute(value.get<std::string>());
  }
  if (type == "texts") {
    return texts_from(value);
  }
  const auto known = array::element_type(type);
  if (!known) {
    throw Error{ErrorCode::unsupported, "it has an attribute of the type \"" + type +
                                            "\", which this release does not know"};
  }
  attribute.type = *known;
  if (!value.is_array()) {
    contents::refuse_json(value, "a list of values");
  }
  for (const auto& element : value) {
    contents::append_element(attribute.type, element, attribute.values);
  }
  return attribute;
}

}  // namespace

std::string one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

contents::Attributes attributes_from(const Json& all) {
  if (!all.is_object()) {
    contents::refuse_json(all, "attributes by name");
  }
  contents::Attributes attributes;
  for (const auto& [name, described] : all.items()) {
    attributes.emplace(name, attribute_from(described));
  }
  return attributes;
}

Json json(const contents::Attributes& attributes) {
  Json all = Json::object();
  for (const auto& [name, attribute] : attributes) {
    all[name] = json(attribute);
  }
  return all;
}

}  // namespace iocomp::commit
