// SPDX-License-Identifier: BSD-3-Clause
#include "commit/xdmf/xdmf_words.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "commit/json_values.h"
#include "contents/variable.h"

namespace iocomp::commit::xdmf {

std::string text(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr};
}

std::string escaped(std::string_view words) {
  std::string all;
  for (const char c : words) {
    switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      default:
        all += c;
    }
  }
  return all;
}

// uint64 is said to be int64: VTK would make 32 bits of it.
std::string number_type(array::ElementType type) {
  using array::ElementType;
  const auto typed = [type](const char* word) {
    return "NumberType=\"" + std::string{word} + "\" Precision=\"" +
           std::to_string(array::size_bytes(type)) + '"';
  };
  switch (type) {
    case ElementType::int8:
      return typed("Char");
    case ElementType::int16:
      return typed("Short");
    case ElementType::int32:
    case ElementType::int64:
    case ElementType::uint64:
      return typed("Int");
    case ElementType::uint8:
      return typed("UChar");
    case ElementType::uint16:
      return typed("UShort");
    case ElementType::uint32:
      return typed("UInt");
    case ElementType::float32:
    case ElementType::float64:
      return typed("Float");
    case ElementType::float16:
    case ElementType::complex64:
    case ElementType::complex128:
    case ElementType::character:
      return {};
  }
  return {};
}

std::optional<std::vector<double>> numbers(const contents::Attribute& attribute) {
  try {
    return json(attribute).at("value").get<std::vector<double>>();
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace iocomp::commit::xdmf
