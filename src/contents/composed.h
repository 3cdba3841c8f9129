// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace iocomp::contents {

/// True if no character of a text in UTF-8 could be changed by normalization form C: none that has
/// another form there, and none that could be joined with the one before it. (The "quick check" of
/// Unicode Standard Annex 15, where "maybe" counts as "no".)
[[nodiscard]] bool is_composed(std::string_view text) noexcept;

}  // namespace iocomp::contents
