// SPDX-License-Identifier: BSD-3-Clause
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace iocomp {
namespace {

constexpr char to_lower(char letter) noexcept {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr char to_upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), to_lower);
  return lower;
}

std::string upper_case(std::string_view text) {
  std::string upper{text};
  std::ranges::transform(upper, upper.begin(), to_upper);
  return upper;
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// A common beginning costs nothing: names of the environment are compared with many that begin as
// they do.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  const auto differ = std::ranges::mismatch(left, right, {}, to_lower, to_lower);
  left.remove_prefix(static_cast<std::size_t>(differ.in1 - left.begin()));
  right.remove_prefix(static_cast<std::size_t>(differ.in2 - right.begin()));
  std::vector<std::size_t> above(right.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  std::vector<std::size_t> current(right.size() + 1);
  for (std::size_t row = 0; row < left.size(); ++row) {
    current[0] = row + 1;
    for (std::size_t column = 0; column < right.size(); ++column) {
      const bool same = to_lower(left[row]) == to_lower(right[column]);
      current[column + 1] =
          std::min({above[column] + (same ? 0U : 1U), above[column + 1] + 1, current[column] + 1});
    }
    std::swap(above, current);
  }
  return above.back();
}

const std::string& nearest(std::string_view word, const std::vector<std::string>& candidates) {
  word = word.substr(0, longest_compared);
  return *std::ranges::min_element(candidates, {}, [word](const std::string& candidate) {
    return edit_distance(word, candidate);
  });
}

// At most half of a guess may be wrong.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) {
    return {};
  }
  const auto& guess = nearest(word, candidates);
  const auto longest_slip = std::max<std::size_t>(1, guess.size() / 2);
  return edit_distance(word.substr(0, longest_compared), guess) <= longest_slip
             ? "; did you mean \"" + guess + "\"?"
             : "";
}

}  // namespace iocomp
