// SPDX-License-Identifier: BSD-3-Clause
#include "array/real_number.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>

#include "array/element_type.h"
#include "array/float16.h"
#include "array/with_element_type.h"

namespace iocomp::array {

std::optional<double> real_number(ElementType type, const std::byte* element) {
  return with_element_type(type,
                           [element]<typename T>(std::type_identity<T>) -> std::optional<double> {
                             T value{};
                             std::memcpy(&value, element, sizeof value);
                             if constexpr (std::is_same_v<T, Half>) {
                               return from_float16(value.bits);
                             } else if constexpr (is_plain_number<T>) {
                               return static_cast<double>(value);
                             } else {
                               return std::nullopt;
                             }
                           });
}

}  // namespace iocomp::array
