// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/words.h"

namespace iocomp::formats::h5 {

/// What ADIOS2 calls the groups of its steps, before their number.
inline constexpr std::string_view adios2_group = "Step";

/// Where a variable lies in the file: "/3/u" in step number 3; and "/u" with `layout = "time"` and
/// "flat".
[[nodiscard]] inline std::string dataset_name(const Variable& variable, std::int64_t number) {
  return '/' + std::to_string(number) + '/' + variable.name;
}
[[nodiscard]] inline std::string root_dataset_name(const Variable& variable) {
  return '/' + variable.name;
}

}  // namespace iocomp::formats::h5
