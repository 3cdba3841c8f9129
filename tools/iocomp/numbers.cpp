// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "array/element_type.h"
#include "array/float16.h"
#include "array/with_element_type.h"

namespace iocomp::command {
namespace {

using array::ElementType;

using array::Half;
using array::with_element_type;

template <typename T>
T read(const std::byte* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
std::string text(const T& value) {
  if constexpr (std::is_same_v<T, Half>) {
    return fmt::format("{}", array::from_float16(value.bits));
  } else if constexpr (array::is_complex_type<T>) {
    return fmt::format("({},{})", value.real(), value.imag());
  } else if constexpr (std::is_same_v<T, char>) {
    // A terminal would obey control characters: JSON has them in other words.
    const std::string letter{value};
    const bool is_control = value >= 0 && value < ' ';
    if (!is_control) {
      return letter;
    }
    const auto quoted = nlohmann::json(letter).dump();
    return quoted.substr(1, quoted.size() - 2);
  } else if constexpr (sizeof value == 1) {
    return fmt::format("{}", static_cast<int>(value));
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace

std::string text_of(ElementType type, const std::byte* element) {
  return with_element_type(
      type, [element]<typename T>(std::type_identity<T>) { return text(read<T>(element)); });
}

void Statistics::add(std::span<const std::byte> elements) {
  const auto take = [this](long double value) {
    if (std::isnan(value)) {
      ++not_a_number_;
      return;
    }
    minimum_ = count_ == 0 ? value : std::min(minimum_, value);
    maximum_ = count_ == 0 ? value : std::max(maximum_, value);
    sum_ += value;
    ++count_;
  };
  with_element_type(type_, [&]<typename T>(std::type_identity<T>) {
    for (std::size_t at = 0; at + sizeof(T) <= elements.size(); at += sizeof(T)) {
      const auto value = read<T>(elements.data() + at);
      if constexpr (std::is_same_v<T, Half>) {
        take(array::from_float16(value.bits));
      } else if constexpr (array::is_complex_type<T>) {
        if (std::isnan(value.real()) || std::isnan(value.imag())) {
          ++not_a_number_;
        } else {
          sum_ += value.real();
          imaginary_sum_ += value.imag();
          ++count_;
        }
      } else if constexpr (!std::is_same_v<T, char>) {
        take(static_cast<long double>(value));
      }
    }
  });
}

std::string Statistics::in_type(long double value) const {
  return with_element_type(type_, [value]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_arithmetic_v<T>) {
      return text(static_cast<T>(value));
    } else {
      return fmt::format("{}", static_cast<double>(value));
    }
  });
}

std::optional<std::string> Statistics::minimum() const {
  const bool has_order = type_ != ElementType::complex64 && type_ != ElementType::complex128;
  return count_ > 0 && has_order ? std::optional{in_type(minimum_)} : std::nullopt;
}

std::optional<std::string> Statistics::maximum() const {
  const bool has_order = type_ != ElementType::complex64 && type_ != ElementType::complex128;
  return count_ > 0 && has_order ? std::optional{in_type(maximum_)} : std::nullopt;
}

std::optional<std::string> Statistics::mean() const {
  if (count_ == 0) {
    return std::nullopt;
  }
  const auto mean = static_cast<double>(sum_ / static_cast<long double>(count_));
  if (type_ == ElementType::complex64 || type_ == ElementType::complex128) {
    return text(std::complex<double>{
        mean, static_cast<double>(imaginary_sum_ / static_cast<long double>(count_))});
  }
  return fmt::format("{}", mean);
}

nlohmann::ordered_json json_number(std::optional<std::string> number) {
  if (!number) {
    return nullptr;
  }
  std::ranges::replace(*number, '(', '[');
  std::ranges::replace(*number, ')', ']');
  auto json = nlohmann::ordered_json::parse(*number, nullptr, false);
  return json.is_discarded() ? nlohmann::ordered_json(*number) : json;
}

}  // namespace iocomp::command
