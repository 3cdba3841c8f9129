// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iocomp {

/// ASCII only: independent of the locale.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);

/// The text without the blanks, and ends of lines, around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

/// Insertions, deletions and replacements that turn one into the other; case does not matter.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// Only so much of a word is compared: the time goes with the square of it.
inline constexpr std::size_t longest_compared = 96;
/// The candidate that `word` is most likely a misspelling of: the first with the smallest distance.
/// @pre !candidates.empty()
[[nodiscard]] const std::string& nearest(std::string_view word,
                                         const std::vector<std::string>& candidates);

/// `; did you mean "X"?` with the nearest of the candidates. Empty if none is like the word.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates);

}  // namespace iocomp
