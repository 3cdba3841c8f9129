#include "commit/json_values.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "base/error.h"
#include "contents/variable.h"

namespace iocomp::commit {
namespace {

Json real(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}

// IEEE 754 binary16: 1 sign bit, 5 of exponent (bias 15), 10 of fraction.
double from_float16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return fraction != 0 ? NAN : sign * INFINITY;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <typename T>
T read(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

Json element(array::ElementType type, const std::byte* at) {
  using array::ElementType;
  switch (type) {
    case ElementType::int8:
      return read<std::int8_t>(at);
    case ElementType::int16:
      return read<std::int16_t>(at);
    case ElementType::int32:
      return read<std::int32_t>(at);
    case ElementType::int64:
      return read<std::int64_t>(at);
    case ElementType::uint8:
    case ElementType::character:
      return read<std::uint8_t>(at);
    case ElementType::uint16:
      return read<std::uint16_t>(at);
    case ElementType::uint32:
      return read<std::uint32_t>(at);
    case ElementType::uint64:
      return read<std::uint64_t>(at);
    case ElementType::float16:
      return real(from_float16(read<std::uint16_t>(at)));
    case ElementType::float32:
      return real(read<float>(at));
    case ElementType::float64:
      return real(read<double>(at));
    case ElementType::complex64:
      return Json::array({real(read<float>(at)), real(read<float>(at + sizeof(float)))});
    case ElementType::complex128:
      return Json::array({real(read<double>(at)), real(read<double>(at + sizeof(double)))});
  }
  throw Error{ErrorCode::internal, "an attribute of an unknown type"};
}

std::string as_text(std::span<const std::byte> values) {
  std::string text(values.size(), '\0');
  if (!values.empty()) {
    std::memcpy(text.data(), values.data(), values.size());
  }
  return text;
}

}  // namespace

Json json(const contents::Attribute& attribute) {
  if (attribute.is_text) {
    return {{"type", "text"}, {"value", as_text(attribute.values)}};
  }
  Json values = Json::array();
  const std::size_t bytes = array::size_bytes(attribute.type);
  for (std::size_t at = 0; at + bytes <= attribute.values.size(); at += bytes) {
    values.push_back(element(attribute.type, attribute.values.data() + at));
  }
  return {{"type", std::string{array::name(attribute.type)}}, {"value", values}};
}

namespace {

double real_from(const Json& value) {
  if (!value.is_string()) {
    return value.get<double>();
  }
  const auto word = value.get<std::string>();
  return word == "NaN" ? NAN : word == "Infinity" ? INFINITY : -INFINITY;
}

// Of a value that a binary16 holds exactly, as all that were written are.
std::uint16_t to_float16(double value) {
  const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) {
    return 0x7e00U;
  }
  if (std::isinf(value)) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // in [0.5, 1)
  if (value == 0 || exponent < -13) {                               // subnormal, or zero
    return static_cast<std::uint16_t>(
        sign | static_cast<unsigned>(std::lround(std::ldexp(std::fabs(value), 24))));
  }
  const auto bits = static_cast<unsigned>(std::lround(std::ldexp(fraction, 11))) - 0x400U;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(exponent + 14) << 10U | bits);
}

template <typename T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* first = std::as_bytes(std::span{&value, 1}).data();
  bytes.insert(bytes.end(), first, first + sizeof value);
}

void append_element(array::ElementType type, const Json& value, std::vector<std::byte>& bytes) {
  using array::ElementType;
  switch (type) {
    case ElementType::int8:
      return append(bytes, value.get<std::int8_t>());
    case ElementType::int16:
      return append(bytes, value.get<std::int16_t>());
    case ElementType::int32:
      return append(bytes, value.get<std::int32_t>());
    case ElementType::int64:
      return append(bytes, value.get<std::int64_t>());
    case ElementType::uint8:
    case ElementType::character:
      return append(bytes, value.get<std::uint8_t>());
    case ElementType::uint16:
      return append(bytes, value.get<std::uint16_t>());
    case ElementType::uint32:
      return append(bytes, value.get<std::uint32_t>());
    case ElementType::uint64:
      return append(bytes, value.get<std::uint64_t>());
    case ElementType::float16:
      return append(bytes, to_float16(real_from(value)));
    case ElementType::float32:
      return append(bytes, static_cast<float>(real_from(value)));
    case ElementType::float64:
      return append(bytes, real_from(value));
    case ElementType::complex64:
      append(bytes, static_cast<float>(real_from(value.at(0))));
      return append(bytes, static_cast<float>(real_from(value.at(1))));
    case ElementType::complex128:
      append(bytes, real_from(value.at(0)));
      return append(bytes, real_from(value.at(1)));
  }
}

contents::Attribute attribute_from(const Json& described) {
  contents::Attribute attribute;
  const auto type = described.at("type").get<std::string>();
  const Json& value = described.at("value");
  if (type == "text") {
    attribute.is_text = true;
    const auto text = value.get<std::string>();
    const auto bytes = std::as_bytes(std::span{text});
    attribute.values.assign(bytes.begin(), bytes.end());
    return attribute;
  }
  const auto known = array::element_type(type);
  if (!known) {
    throw Error{ErrorCode::unsupported, "it has an attribute of the type \"" + type +
                                            "\", which this release does not know"};
  }
  attribute.type = *known;
  for (const auto& element : value) {
    append_element(attribute.type, element, attribute.values);
  }
  return attribute;
}

}  // namespace

contents::Attributes attributes_from(const Json& all) {
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
