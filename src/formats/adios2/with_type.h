// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "array/element_type.h"
#include "base/error.h"

namespace iocomp::formats::bp {

/// Call `action` with the type of C++ that the elements have, as std::type_identity.
/// @throws Error{unsupported} for float16.
template <typename Action>
void with_type(array::ElementType type, const Action& action) {
  using array::ElementType;
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
      break;
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
  throw Error{ErrorCode::unsupported, "ADIOS2 has no such element type"};
}

}  // namespace iocomp::formats::bp
