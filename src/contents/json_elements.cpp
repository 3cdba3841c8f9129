// SPDX-License-Identifier: BSD-3-Clause
#include "contents/json_elements.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/element_type.h"
#include "array/float16.h"
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

template <typename T>
T read(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
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
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto* first = std::as_bytes(std::span{&value, 1}).data();
  bytes.insert(bytes.end(), first, first + sizeof value);
}

}  // namespace

Json json_element(array::ElementType type, const std::byte* at) {
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
      return real(array::from_float16(read<std::uint16_t>(at)));
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

void append_element(array::ElementType type, const Json& value, std::vector<std::byte>& bytes) {
  using array::ElementType;
  switch (type) {
    case ElementType::int8:
      return append(bytes, exactly<std::int8_t>(value));
    case ElementType::int16:
      return append(bytes, exactly<std::int16_t>(value));
    case ElementType::int32:
      return append(bytes, exactly<std::int32_t>(value));
    case ElementType::int64:
      return append(bytes, exactly<std::int64_t>(value));
    case ElementType::uint8:
    case ElementType::character:
      return append(bytes, exactly<std::uint8_t>(value));
    case ElementType::uint16:
      return append(bytes, exactly<std::uint16_t>(value));
    case ElementType::uint32:
      return append(bytes, exactly<std::uint32_t>(value));
    case ElementType::uint64:
      return append(bytes, exactly<std::uint64_t>(value));
    case ElementType::float16:
      return append(bytes, float16_from(value));
    case ElementType::float32:
      return append(bytes, float32_from(value));
    case ElementType::float64:
      return append(bytes, real_from(value));
    case ElementType::complex64:
      append(bytes, float32_from(half(value, 0)));
      return append(bytes, float32_from(half(value, 1)));
    case ElementType::complex128:
      append(bytes, real_from(half(value, 0)));
      return append(bytes, real_from(half(value, 1)));
  }
}

std::int64_t integer_from(const Json& value) { return exactly<std::int64_t>(value); }

}  // namespace iocomp::contents
