// SPDX-License-Identifier: BSD-3-Clause
#include "formats/cdf/types.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "contents/catalogue.h"
#include "contents/dimensions.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {
namespace {

using array::ElementType;

template <typename Value>
std::vector<std::byte> bytes_of(Value value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::byte> twice(std::vector<std::byte> part) {
  const std::size_t bytes = part.size();
  part.resize(2 * bytes);
  std::memcpy(part.data() + bytes, part.data(), bytes);
  return part;
}

// The values of netcdf.h: NC_FILL_BYTE and so on.
std::vector<std::byte> usual_fill_value(ElementType type) {
  constexpr float fill_float = 9.9692099683868690e+36F;
  constexpr double fill_double = 9.9692099683868690e+36;
  switch (type) {
    case ElementType::int8:
      return bytes_of(std::int8_t{-127});
    case ElementType::int16:
      return bytes_of(std::int16_t{-32767});
    case ElementType::int32:
      return bytes_of(std::int32_t{-2147483647});
    case ElementType::int64:
      return bytes_of(std::int64_t{-9223372036854775806});
    case ElementType::uint8:
      return bytes_of(std::uint8_t{255});
    case ElementType::uint16:
      return bytes_of(std::uint16_t{65535});
    case ElementType::uint32:
      return bytes_of(std::uint32_t{4294967295U});
    case ElementType::uint64:
      return bytes_of(std::uint64_t{18446744073709551614U});
    case ElementType::float32:
      return bytes_of(fill_float);
    case ElementType::float64:
      return bytes_of(fill_double);
    case ElementType::complex64:
      return twice(bytes_of(fill_float));
    case ElementType::complex128:
      return twice(bytes_of(fill_double));
    default:
      return std::vector<std::byte>(array::size_bytes(type));
  }
}

}  // namespace

int type_number(ElementType type) {
  switch (array::part_of(type)) {
    case ElementType::int8:
      return 1;
    case ElementType::character:
      return text_number;
    case ElementType::int16:
      return 3;
    case ElementType::int32:
      return 4;
    case ElementType::float32:
      return 5;
    case ElementType::float64:
      return 6;
    case ElementType::uint8:
      return 7;
    case ElementType::uint16:
      return 8;
    case ElementType::uint32:
      return 9;
    case ElementType::int64:
      return 10;
    case ElementType::uint64:
      return 11;
    default:
      throw Error{ErrorCode::unsupported,
                  "netCDF has no elements of type " + std::string{array::name(type)}};
  }
}

std::optional<ElementType> type_of(int number) {
  for (int value = 1; const auto type = array::element_type(value); ++value) {
    if (*type != ElementType::float16 && type_number(*type) == number) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<ElementType> complex_type(ElementType part, std::string_view last_dimension) {
  return last_dimension == contents::complex_dimension ? array::complex_of(part) : std::nullopt;
}

std::vector<std::byte> fill_value(ElementType type, const std::optional<Attribute>& own) {
  const bool fits = Variable{0, {}, type, {}, std::nullopt, own}.has_fill_value();
  return fits ? own->values : usual_fill_value(type);
}

std::optional<Attribute> own_fill_value(ElementType type, const Attributes& attributes) {
  const auto found = attributes.find(contents::fill_attribute);
  if (found == attributes.end()) {
    return std::nullopt;
  }
  Attribute value = found->second;
  if (type == ElementType::character && value.is_text) {
    value.type = type;
    value.is_text = false;
  }
  if (array::is_complex(type) && !value.is_text && value.type == array::part_of(type)) {
    value.type = type;
    value.values = twice(std::move(value.values));
  }
  return value;
}

Attributes attributes_in_file(const Attributes& attributes) {
  Attributes kept = attributes;
  kept.erase(contents::dimensions_attribute);
  const auto fill = kept.find(contents::fill_attribute);
  if (fill != kept.end() && array::is_complex(fill->second.type)) {
    Attribute& value = fill->second;
    value.values.resize(array::number_bytes(value.type));
    value.type = array::part_of(value.type);
  }
  return kept;
}

}  // namespace iocomp::formats::cdf
