// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/byte_size.h"
#include "config/nearest.h"

namespace iocomp::config {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  text = trimmed(text);
  Number number{};
  const auto* const end = std::to_address(text.end());
  const auto [rest, failure] = std::from_chars(std::to_address(text.begin()), end, number);
  if (failure != std::errc{} || rest != end) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  return parse_number<std::int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) noexcept {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<double> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr std::array<Unit, 5> units{
      {{"", 1}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}}};
  text = trimmed(text);
  const auto digits = std::min(text.find_last_of("0123456789.") + 1, text.size());
  const auto number = parse_real(text.substr(0, digits));
  const auto* const unit =
      std::ranges::find(units, lower_case(trimmed(text.substr(digits))), &Unit::name);
  if (!number || *number < 0 || unit == units.end()) {
    return std::nullopt;
  }
  return *number * unit->seconds;
}

std::optional<std::int64_t> parse_rate(std::string_view text) {
  text = trimmed(text);
  if (lower_case(text).ends_with("/s")) {
    text.remove_suffix(2);
  }
  return parse_bytes(text);
}

std::optional<bool> parse_boolean(std::string_view text) {
  const auto word = lower_case(trimmed(text));
  if (word == "true" || word == "on" || word == "yes" || word == "1") {
    return true;
  }
  if (word == "false" || word == "off" || word == "no" || word == "0") {
    return false;
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> parse_list(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (text = trimmed(text); !text.empty();) {
    const auto end = text.find_first_of(", \t\r\n");
    const auto number = parse_integer(text.substr(0, end));
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
    if (end == std::string_view::npos) {
      break;
    }
    const auto rest = trimmed(text.substr(end));
    text = rest.starts_with(',') ? trimmed(rest.substr(1)) : rest;
    if (text.empty()) {
      return std::nullopt;  // a comma at the end
    }
  }
  return numbers;
}

}  // namespace iocomp::config
