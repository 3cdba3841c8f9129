// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace iocomp {

/// Whether it is UTF-8, which is all that names and text of most formats may be.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace iocomp
