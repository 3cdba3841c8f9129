// SPDX-License-Identifier: BSD-3-Clause
#include "config/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <iomanip>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/nearest.h"
#include "base/signals.h"

namespace iocomp::config {
namespace {

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
  if (parse_integer(words)) {
    return std::nullopt;  // a number of servers, or a rank?
  }
  const bool is_in_brackets = words.starts_with('[') && words.ends_with(']');
  Servers servers;
  const std::string listed = is_in_brackets ? words.substr(1, words.size() - 2) : words;
  if (words == "none" || (is_in_brackets && trimmed(listed).empty())) {
    servers.are_none = true;
    return servers;
  }
  if (auto ranks = parse_list(listed)) {
    servers.ranks = *std::move(ranks);
    const std::set<std::int64_t> different{servers.ranks.begin(), servers.ranks.end()};
    const bool has_negative = !different.empty() && *different.begin() < 0;
    return has_negative || different.size() < servers.ranks.size()
               ? std::nullopt
               : std::optional{std::move(servers)};
  }
  if (const auto dashed = words.find("-per-"); dashed != std::string::npos) {
    words.replace(dashed, per.size(), per);
  }
  const auto found = words.find(per);
  if (found == std::string::npos) {
    return std::nullopt;
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

std::optional<std::vector<int>> parse_signals(std::string_view text) {
  return parse_separated<int>(text, signal_named);
}

namespace {

// Seconds since 1970.
std::optional<double> parse_moment(const std::string& text) {
  if (const auto seconds = parse_real(text)) {
    return seconds;
  }
  for (const char* const form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M"}) {
    std::tm parts{};
    std::istringstream stream{text};
    stream >> std::get_time(&parts, form);
    if (!stream.fail() && stream.peek() == std::istringstream::traits_type::eof()) {
      parts.tm_isdst = -1;
      const int day = parts.tm_mday;
      const auto seconds = static_cast<double>(std::mktime(&parts));
      return parts.tm_mday == day ? std::optional{seconds} : std::nullopt;  // no 30 February
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Stop> parse_stop(std::string_view text) {
  constexpr std::string_view minus = " - ";
  const auto dash = text.find(minus);
  const auto before = dash == std::string_view::npos
                          ? std::optional{0.0}
                          : parse_duration(text.substr(dash + minus.size()));
  const std::string end{text.substr(0, dash)};
  const auto moment = parse_moment(end);
  const bool is_known = moment || end == "end" || text.empty();
  return before && is_known ? std::optional{Stop{moment, *before}} : std::nullopt;
}

namespace {

// A number and its values, as netCDF and nccopy have them: "32013,3,0".
std::optional<Compression> parse_filter(std::string_view text) {
  constexpr std::int64_t most_filter = 65535;
  Compression found{.method = Compression::Method::filter, .shuffle = false};
  for (bool is_first = true; !text.empty() || is_first; is_first = false) {
    const auto comma = std::min(text.find(','), text.size());
    const auto number = parse_integer(trimmed(text.substr(0, comma)));
    const bool ends_with_comma = comma + 1 == text.size();
    if (!number || *number < 0 || *number > (is_first ? most_filter : UINT32_MAX) ||
        ends_with_comma || found.value_count == found.values.size()) {
      return std::nullopt;
    }
    if (is_first) {
      found.filter = static_cast<int>(*number);
    } else {
      found.values.at(found.value_count++) = static_cast<unsigned>(*number);
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return found;
}

}  // namespace

std::optional<Compression> parse_compression(std::string_view text) {
  constexpr std::string_view unshuffled = " unshuffled";
  constexpr int most_deflate_level = 9;
  constexpr int most_zstd_level = 19;
  std::string words{trimmed(text)};
  if (words == "none") {
    return Compression{};
  }
  if (!words.empty() && words.front() >= '0' && words.front() <= '9') {
    return parse_filter(words);
  }
  Compression found{.level = 4};
  if (words.ends_with(unshuffled)) {
    found.shuffle = false;
    words.resize(words.size() - unshuffled.size());
  }
  const auto colon = words.find(':');
  const auto method = words.substr(0, colon);
  if (method != "deflate" && method != "zstd") {
    return std::nullopt;
  }
  const bool is_zstd = method == "zstd";
  found.method = is_zstd ? Compression::Method::zstd : Compression::Method::deflate;
  if (colon != std::string::npos) {
    const auto level = parse_integer(words.substr(colon + 1));
    if (!level || *level < 1 || *level > (is_zstd ? most_zstd_level : most_deflate_level)) {
      return std::nullopt;
    }
    found.level = static_cast<int>(*level);
  }
  return found;
}

std::optional<int> parse_rounding(std::string_view text) {
  constexpr std::string_view unit = " bits";
  constexpr std::int64_t most_bits = 52;
  constexpr double most_error = 0.25;
  text = trimmed(text);
  if (text == "none") {
    return 0;
  }
  if (text.ends_with(unit)) {
    const auto bits = parse_integer(text.substr(0, text.size() - unit.size()));
    return bits && *bits >= 1 && *bits <= most_bits ? std::optional{static_cast<int>(*bits)}
                                                    : std::nullopt;
  }
  const auto error = parse_real(text);
  if (!error || *error <= 0 || *error > most_error) {
    return std::nullopt;
  }
  // Rounding to nearest moves a number by half of the last bit that is kept at most. With all bits
  // there is nothing to round.
  const auto bits = std::max(1.0, std::ceil(-std::log2(*error)) - 1);
  return bits > most_bits ? 0 : static_cast<int>(bits);
}

std::optional<Aggregators> parse_aggregators(std::string_view text) {
  constexpr std::int64_t most = 1000000;
  text = trimmed(text);
  const auto blank = text.find(' ');
  const auto number = parse_integer(text.substr(0, blank));
  const auto order = blank == std::string_view::npos ? "spread" : trimmed(text.substr(blank));
  if (!number || *number < 0 || *number > most || (order != "spread" && order != "packed")) {
    return std::nullopt;
  }
  return Aggregators{.per_node = static_cast<int>(*number),
                     .order = order == "packed" ? Order::packed : Order::spread};
}

bool is_time_unit(std::string_view text) {
  static const std::regex known{
      "(s|secs?|seconds?|min|minutes?|h|hrs?|hours?|d|days?) since "
      "[+-]?[0-9]{1,6}-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])"           // date
      "([ t]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?)?"  // time
      " ?(z|utc|[+-][0-9]{1,2}(:?[0-9]{2})?)?",                              // zone
      std::regex::icase};
  return std::regex_match(text.begin(), text.end(), known);
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
