// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "array/element_type.h"

namespace iocomp::array {

/// Call `action` with the type of C++ that the elements have, as std::type_identity.
/// @return false for float16, for which there is none: nothing is called.
template <typename Action>
bool with_element_type(ElementType type, const Action& action) {
  const auto call = [&]<typename T>(std::type_identity<T> identity) {
    action(identity);
    return true;
  };
  switch (type) {
    case ElementType::int8:
      return call(std::type_identity<std::int8_t>{});
    case ElementType::int16:
      return call(std::type_identity<std::int16_t>{});
    case ElementType::int32:
      return call(std::type_identity<std::int32_t>{});
    case ElementType::int64:
      return call(std::type_identity<std::int64_t>{});
    case ElementType::uint8:
      return call(std::type_identity<std::uint8_t>{});
    case ElementType::uint16:
      return call(std::type_identity<std::uint16_t>{});
    case ElementType::uint32:
      return call(std::type_identity<std::uint32_t>{});
    case ElementType::uint64:
      return call(std::type_identity<std::uint64_t>{});
    case ElementType::float16:
      break;
    case ElementType::float32:
      return call(std::type_identity<float>{});
    case ElementType::float64:
      return call(std::type_identity<double>{});
    case ElementType::complex64:
      return call(std::type_identity<std::complex<float>>{});
    case ElementType::complex128:
      return call(std::type_identity<std::complex<double>>{});
    case ElementType::character:
      return call(std::type_identity<char>{});
  }
  return false;
}

}  // namespace iocomp::array
