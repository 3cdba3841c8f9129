// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/words.h"

namespace iocomp::formats::h5 {

/// The name of ADIOS2's groups of steps, before their number.
inline constexpr std::string_view adios2_group = "Step";

/// The path of a variable in the file: "/3/u" in step number 3. With `layout = "time"` and "flat"
/// it is "/u".
[[nodiscard]] inline std::string dataset_name(const Variable& variable, std::int64_t number) {
  return '/' + std::to_string(number) + '/' + variable.name;
}
[[nodiscard]] inline std::string root_dataset_name(const Variable& variable) {
  return '/' + variable.name;
}

}  // namespace iocomp::formats::h5
