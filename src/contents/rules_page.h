// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "contents/rules.h"

namespace iocomp::contents {

/// Returns the table in docs/developers/formats.md. Formats with the same rules share a
/// column.
[[nodiscard]] std::string rules_markdown(std::span<const Rules> all);

}  // namespace iocomp::contents
