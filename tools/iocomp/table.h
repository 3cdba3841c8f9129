// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace iocomp::command {

/// Rows as aligned columns, two blanks between them; the last column is not padded.
[[nodiscard]] std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace iocomp::command
