// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "array/element_type.h"
#include "base/error.h"

namespace iocomp::array {

/// An element of float16, for which C++ has no type.
struct Half {
  std::uint16_t bits = 0;
};

template <typename T>
inline constexpr bool is_complex_type =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
/// Integers and real numbers of C++.
template <typename T>
inline constexpr bool is_plain_number = std::is_arithmetic_v<T> && !std::is_same_v<T, char>;

/// Call `action` with the type that the elements have, as std::type_identity. @return its result.
template <typename Action>
decltype(auto) with_element_type(ElementType type, const Action& action) {
  switch (type) {
    case ElementType::int8:
      return action(std::type_identity<std::int8_t>{});
    case ElementType::int16:
      return action(std::type_identity<std::int16_t>{});
    case ElementType::int32:
      return action(std::type_identity<std::int32_t>{});
    case ElementType::int64:
      return action(std::type_identity<std::int64_t>{});
    case ElementType::uint8:
      return action(std::type_identity<std::uint8_t>{});
    case ElementType::uint16:
      return action(std::type_identity<std::uint16_t>{});
    case ElementType::uint32:
      return action(std::type_identity<std::uint32_t>{});
    case ElementType::uint64:
      return action(std::type_identity<std::uint64_t>{});
    case ElementType::float16:
      return action(std::type_identity<Half>{});
    case ElementType::float32:
      return action(std::type_identity<float>{});
    case ElementType::float64:
      return action(std::type_identity<double>{});
    case ElementType::complex64:
      return action(std::type_identity<std::complex<float>>{});
    case ElementType::complex128:
      return action(std::type_identity<std::complex<double>>{});
    case ElementType::character:
      return action(std::type_identity<char>{});
  }
  throw Error{ErrorCode::internal, "elements of an unknown type"};
}

}  // namespace iocomp::array
