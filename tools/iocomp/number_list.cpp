// SPDX-License-Identifier: BSD-3-Clause
#include "iocomp/number_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace iocomp::command {
namespace {

constexpr int largest = 1'000'000;

bool read_number(std::string_view text, int& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() && number >= 0 &&
         number <= largest;
}

bool read_part(std::string_view part, int& first, int& last) {
  const auto dash = part.find('-');
  if (dash == std::string_view::npos) {
    return read_number(part, first) && read_number(part, last);
  }
  return read_number(part.substr(0, dash), first) && read_number(part.substr(dash + 1), last) &&
         first <= last;
}

}  // namespace

std::vector<int> read_ranges(const std::string& text, const std::string& what) {
  std::vector<int> numbers;
  std::istringstream parts{text};
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0;
    int last = 0;
    if (!read_part(part, first, last)) {
      throw Error{ErrorCode::invalid_argument,
                  fmt::format("{} = \"{}\": \"{}\" is neither a number from 0 to {} nor a range "
                              "such as 0-15",
                              what, text, part, largest)};
    }
    if (numbers.size() + static_cast<std::size_t>(last - first) > std::size_t{largest}) {
      throw Error{ErrorCode::invalid_argument,
                  fmt::format("{} has more than {} numbers", what, largest)};
    }
    for (int number = first; number <= last; ++number) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

std::string comma_separated(const std::vector<int>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

}  // namespace iocomp::command
