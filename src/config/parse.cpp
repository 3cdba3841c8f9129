// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/nearest.h"

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

// @param parse  one of them; nothing if it is none.
template <typename Value, typename Parse>
std::optional<std::vector<Value>> parse_separated(std::string_view text, const Parse& parse) {
  std::vector<Value> values;
  for (text = trimmed(text); !text.empty();) {
    const auto end = text.find_first_of(", \t\r\n");
    std::optional<Value> value = parse(text.substr(0, end));
    if (!value) {
      return std::nullopt;
    }
    values.push_back(*std::move(value));
    if (end == std::string_view::npos) {
      break;
    }
    const auto rest = trimmed(text.substr(end));
    text = rest.starts_with(',') ? trimmed(rest.substr(1)) : rest;
    if (text.empty()) {
      return std::nullopt;  // a comma at the end
    }
  }
  return values;
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
  return parse_separated<std::int64_t>(text, parse_integer);
}

std::optional<Servers> parse_servers(std::string_view text) {
  constexpr std::int64_t most = 1000000;
  constexpr std::string_view per = " per ";
  std::string words = lower_case(trimmed(text));
  Servers servers;
  if (words.starts_with('[') && words.ends_with(']')) {
    words = words.substr(1, words.size() - 2);
  } else if (parse_integer(words)) {
    return std::nullopt;  // a number of servers, or a rank?
  } else {
    std::ranges::replace(words, '-', ' ');
  }
  const auto found = words.find(per);
  if (found == std::string::npos) {
    auto ranks = parse_list(words);
    if (!ranks || std::ranges::any_of(*ranks, [](auto rank) { return rank < 0; })) {
      return std::nullopt;
    }
    servers.ranks = *std::move(ranks);
    return servers;
  }
  const auto is_number = [](const auto& number) {
    return number && *number >= 1 && *number <= most;
  };
  const auto number = parse_integer(words.substr(0, found));
  const auto rest = words.substr(found + per.size());
  if (rest == "node" && is_number(number)) {
    servers.per_node = *number;
    return servers;
  }
  const auto ratio = parse_integer(rest);
  if (number != 1 || !is_number(ratio)) {
    return std::nullopt;
  }
  servers.ratio = *ratio;
  return servers;
}

bool is_file_name(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
  });
}

std::optional<std::vector<std::string>> parse_names(std::string_view text) {
  return parse_separated<std::string>(text, [](std::string_view name) {
    return is_file_name(name) ? std::optional{std::string{name}} : std::nullopt;
  });
}

}  // namespace iocomp::config
