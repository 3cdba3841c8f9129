#include "storage/json_values.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "array/element_type.h"
#include "base/error.h"
#include "storage/variable.h"

namespace iocomp::storage {
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

Json json(const Attribute& attribute) {
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

Json json(const Attributes& attributes) {
  Json all = Json::object();
  for (const auto& [name, attribute] : attributes) {
    all[name] = json(attribute);
  }
  return all;
}

}  // namespace iocomp::storage
