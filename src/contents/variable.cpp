// SPDX-License-Identifier: BSD-3-Clause
#include "contents/variable.h"

#include <cstdint>
#include <limits>
#include <string>

#include "array/box.h"
#include "array/element_type.h"
#include "base/error.h"

namespace iocomp::contents {

void check_bytes(const Variable& variable) {
  const auto element = static_cast<std::int64_t>(array::size_bytes(variable.type));
  if (array::elements(variable.shape) > std::numeric_limits<std::int64_t>::max() / element) {
    throw Error{ErrorCode::invalid_argument,
                "the variable \"" + variable.name + "\" (" + array::text(variable.shape) + ", " +
                    std::to_string(element) + " bytes each) has more bytes than 63 bits count"};
  }
}

}  // namespace iocomp::contents
