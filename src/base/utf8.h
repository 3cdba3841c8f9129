// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace iocomp {

/// True if a text is UTF-8. Names and text of most formats may be nothing else.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace iocomp
