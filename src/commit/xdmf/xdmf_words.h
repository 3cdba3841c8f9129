// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_type.h"
#include "contents/variable.h"

namespace iocomp::commit::xdmf {

/// The shortest digits that give it back.
[[nodiscard]] std::string text(double value);
[[nodiscard]] std::string escaped(std::string_view words);
/// XDMF's words for an element, as attributes; empty where it has none.
[[nodiscard]] std::string number_type(array::ElementType type);
/// Real numbers and integers; nothing for text, complex numbers and NaN.
[[nodiscard]] std::optional<std::vector<double>> numbers(const contents::Attribute& attribute);

}  // namespace iocomp::commit::xdmf
