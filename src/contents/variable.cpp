// SPDX-License-Identifier: BSD-3-Clause
#include "contents/variable.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "array/box.h"
#include "array/element_type.h"
#include "array/rounding.h"
#include "base/error.h"

namespace iocomp::contents {

std::string_view text_of(const Attribute& attribute) noexcept {
  return {reinterpret_cast<const char*>(attribute.values.data()), attribute.values.size()};
}

void round_values(const Variable& variable, std::span<std::byte> values, bool is_swapped) {
  if (variable.kept_bits > 0) {
    array::round_to_bits(variable.type, variable.kept_bits, values,
                         variable.has_fill_value()
                             ? std::span<const std::byte>{variable.fill_value->values}
                             : std::span<const std::byte>{},
                         is_swapped);
  }
}

void check_bytes(const Variable& variable) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  if (array::elements(variable.shape) > std::numeric_limits<std::int64_t>::max() / element) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + variable.name + "\" (" + array::text(variable.shape) + ", " +
                    std::to_string(element) + " bytes each) has more bytes than 63 bits count"};
  }
}

}  // namespace iocomp::contents
