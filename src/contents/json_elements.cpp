// SPDX-License-Identifier: BSD-3-Clause
#include "contents/json_elements.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/float16.h"
#include "array/with_element_type.h"
#include "base/error.h"
#include "base/nesting.h"
#include "base/our_words.h"

namespace iocomp::contents {

Json parse_json(std::string_view text) {
  check_nesting(text);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error{ErrorCode::storage_failure, in_our_words(error)};
  }
}

void refuse_json(const Json& value, const char* wanted) {
  throw Error{ErrorCode::storage_failure,
              "it has " + value.dump(-1, ' ', false, Json::error_handler_t::replace) + " where " +
                  wanted + " is expected"};
}

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

// JSON has one kind of number, and its library converts silently what does not fit.
template <typename T>
T exactly(const Json& value) {
  if (value.is_number_unsigned()) {
    if (const auto number = value.get<std::uint64_t>(); std::in_range<T>(number)) {
      return static_cast<T>(number);
    }
  } else if (value.is_number_integer()) {
    if (const auto number = value.get<std::int64_t>(); std::in_range<T>(number)) {
      return static_cast<T>(number);
    }
  }
  refuse_json(value, "an integer of its type");
}

double real_from(const Json& value) {
  if (value.is_number()) {
    return value.get<double>();
  }
  const auto word = value.is_string() ? value.get<std::string>() : std::string{};
  if (word == "NaN") {
    return NAN;
  }
  if (word == "Infinity" || word == "-Infinity") {
    return word.front() == '-' ? -INFINITY : INFINITY;
  }
  refuse_json(value, "a number");
}

float float32_from(const Json& value) {
  const double real = real_from(value);
  const auto narrow = static_cast<float>(real);
  if (std::isinf(narrow) != std::isinf(real)) {
    refuse_json(value, "a number of 32 bits");
  }
  return narrow;
}

const Json& half(const Json& complex, std::size_t which) {
  if (!complex.is_array() || complex.size() != 2) {
    refuse_json(complex, "a pair of numbers");
  }
  return complex[which];
}

std::uint16_t float16_from(const Json& value) {
  constexpr double least_too_large = 65520;  // would be rounded to infinity
  const double real = real_from(value);
  if (!std::isinf(real) && std::fabs(real) >= least_too_large) {
    refuse_json(value, "a number of 16 bits");
  }
  return array::to_float16(real);
}

template <typename T>
T element_from(const Json& value) {
  if constexpr (std::is_same_v<T, array::Half>) {
    return {float16_from(value)};
  } else if constexpr (std::is_same_v<T, float>) {
    return float32_from(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return real_from(value);
  } else if constexpr (array::is_complex_type<T>) {
    using Part = typename T::value_type;
    return {element_from<Part>(half(value, 0)), element_from<Part>(half(value, 1))};
  } else if constexpr (std::is_same_v<T, char>) {
    return static_cast<char>(exactly<std::uint8_t>(value));
  } else {
    return exactly<T>(value);
  }
}

}  // namespace

Json json_element(array::ElementType type, const std::byte* at) {
  return array::with_element_type(type, [at]<typename T>(std::type_identity<T>) -> Json {
    T value{};
    std::memcpy(&value, at, sizeof value);
    if constexpr (std::is_same_v<T, array::Half>) {
      return real(array::from_float16(value.bits));
    } else if constexpr (std::is_floating_point_v<T>) {
      return real(value);
    } else if constexpr (array::is_complex_type<T>) {
      return Json::array({real(value.real()), real(value.imag())});
    } else if constexpr (std::is_same_v<T, char>) {
      return static_cast<std::uint8_t>(value);
    } else {
      return value;
    }
  });
}

Json json_elements(const Attribute& attribute) {
  Json values = Json::array();
  const std::size_t bytes = array::size_bytes(attribute.type);
  for (std::size_t at = 0; at + bytes <= attribute.values.size(); at += bytes) {
    values.push_back(json_element(attribute.type, attribute.values.data() + at));
  }
  return values;
}

void append_element(array::ElementType type, const Json& value, std::vector<std::byte>& bytes) {
  array::with_element_type(type, [&]<typename T>(std::type_identity<T>) {
    const auto element = element_from<T>(value);
    const auto all = std::as_bytes(std::span{&element, 1});
    bytes.insert(bytes.end(), all.begin(), all.end());
  });
}

std::int64_t integer_from(const Json& value) { return exactly<std::int64_t>(value); }

}  // namespace iocomp::contents
