// SPDX-License-Identifier: BSD-3-Clause
#include "array/real_number.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "array/element_type.h"
#include "array/float16.h"

namespace iocomp::array {
namespace {

template <typename T>
T element_at(const std::byte* element) {
  T value{};
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
double number_at(const std::byte* element) {
  return static_cast<double>(element_at<T>(element));
}

}  // namespace

std::optional<double> real_number(ElementType type, const std::byte* element) {
  switch (type) {
    case ElementType::int8:
      return number_at<std::int8_t>(element);
    case ElementType::int16:
      return number_at<std::int16_t>(element);
    case ElementType::int32:
      return number_at<std::int32_t>(element);
    case ElementType::int64:
      return number_at<std::int64_t>(element);
    case ElementType::uint8:
      return number_at<std::uint8_t>(element);
    case ElementType::uint16:
      return number_at<std::uint16_t>(element);
    case ElementType::uint32:
      return number_at<std::uint32_t>(element);
    case ElementType::uint64:
      return number_at<std::uint64_t>(element);
    case ElementType::float16:
      return from_float16(element_at<std::uint16_t>(element));
    case ElementType::float32:
      return number_at<float>(element);
    case ElementType::float64:
      return number_at<double>(element);
    case ElementType::complex64:
    case ElementType::complex128:
    case ElementType::character:
      break;
  }
  return std::nullopt;
}

}  // namespace iocomp::array
