// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace iocomp::command {

/// Read what number_ranges writes. @throws Error{invalid_argument} naming `what` and the text.
[[nodiscard]] std::vector<int> read_ranges(const std::string& text, const std::string& what);

/// "0,1,2", in the order given.
[[nodiscard]] std::string comma_separated(const std::vector<int>& numbers);

}  // namespace iocomp::command
