// SPDX-License-Identifier: BSD-3-Clause
#include "config/check.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/nearest.h"
#include "config/parse.h"
#include "config/settings.h"
#include "config/table.h"

namespace iocomp::config {
namespace {

std::vector<std::string> choices(const Key& row) {
  std::vector<std::string> words;
  for (std::string_view rest = row.allowed;;) {
    const auto bar = rest.find('|');
    words.emplace_back(rest.substr(0, bar));
    if (bar == std::string_view::npos) {
      return words;
    }
    rest.remove_prefix(bar + 1);
  }
}

struct Range {
  std::string_view lowest;
  std::string_view highest;
};

Range range(const Key& row) {
  const auto dots = row.allowed.find("..");
  if (dots == std::string_view::npos) {
    return {};
  }
  return {.lowest = row.allowed.substr(0, dots), .highest = row.allowed.substr(dots + 2)};
}

template <typename Number, typename Parse>
bool in_range(const Key& row, const std::optional<Number>& number, Parse parse) {
  const auto [lowest, highest] = range(row);
  return number && (lowest.empty() || number >= parse(lowest)) &&
         (highest.empty() || number <= parse(highest));
}

bool allows(const Key& row, std::string_view text) {
  switch (row.type) {
    case ValueType::text:
    case ValueType::path:
      return true;
    case ValueType::choice:
      return std::ranges::count(choices(row), text) == 1;
    case ValueType::integer:
      return in_range(row, parse_integer(text), parse_integer);
    case ValueType::real:
      return in_range(row, parse_real(text), parse_real);
    case ValueType::boolean:
      return parse_boolean(text).has_value();
    case ValueType::duration:
      return parse_duration(text).has_value();
    case ValueType::bytes:
      return in_range(row, parse_bytes(text), parse_bytes);
    case ValueType::rate:
      return parse_rate(text).has_value();
    case ValueType::names:
      return parse_names(text).has_value();
    case ValueType::form:
      return row.accepts(text);
  }
  return false;
}

std::string range_text(const Key& row) {
  const auto [lowest, highest] = range(row);
  if (lowest.empty()) {
    return highest.empty() ? "" : fmt::format(" up to {}", highest);
  }
  return highest.empty() ? fmt::format(" from {} on", lowest)
                         : fmt::format(" from {} to {}", lowest, highest);
}

}  // namespace

std::string allowed_text(const Key& row) {
  switch (row.type) {
    case ValueType::text:
      return "is any text (in TOML in quotes)";
    case ValueType::path:
      return "is a path (in TOML in quotes)";
    case ValueType::choice:
      return fmt::format("are {}", fmt::join(choices(row), ", "));
    case ValueType::integer:
      return fmt::format("is an integer{}", range_text(row));
    case ValueType::real:
      return fmt::format("is a number{}", range_text(row));
    case ValueType::boolean:
      return "are true, false";
    case ValueType::duration:
      return "is a duration, such as 90, 5 min or 1.5 h";
    case ValueType::bytes:
      return fmt::format("is a size{}, such as 4096, 64 KiB or 1.5 GiB", range_text(row));
    case ValueType::rate:
      return "is a size per second, such as 500 MiB/s or 2 GB/s";
    case ValueType::names:
      return "is a list of names of files, such as [\"fields\", \"probes\"]";
    case ValueType::form:
      return fmt::format("is {}", row.allowed);
  }
  return {};
}

void refuse(std::string_view name, const Value& value, std::string_view reason) {
  throw Error{ErrorCode::invalid_setting,
              fmt::format("{} = \"{}\" ({}): {}", name, value.text, value.origin, reason)};
}

std::string unknown_text(std::string_view name, std::string_view origin,
                         std::string_view nearest_name) {
  return fmt::format(
      "unknown setting {} ({}): the nearest known one is {}; `iocomp config` lists all", name,
      origin, nearest_name);
}

void refuse_gone(std::string_view key, std::string_view name, std::string_view origin) {
  const auto gone = gone_keys();
  const auto found = std::ranges::find(gone, key, &GoneKey::name);
  if (found != gone.end()) {
    throw Error{ErrorCode::invalid_setting,
                fmt::format("{} ({}) is gone: {}", name, origin, found->instead)};
  }
}

void refuse_unknown(std::string_view name, std::string_view origin, std::string_view nearest_name) {
  throw Error{ErrorCode::invalid_setting, unknown_text(name, origin, nearest_name)};
}

void check_value(const Key& row, std::string_view name, const Value& value) {
  if (allows(row, value.text)) {
    return;
  }
  refuse_gone(fmt::format("{}={}", row.name, value.text),
              fmt::format("{} = \"{}\"", name, value.text), value.origin);
  auto reason = "allowed " + allowed_text(row);
  if (row.type == ValueType::choice) {
    reason += did_you_mean(value.text, choices(row));
  }
  refuse(name, value, reason);
}

}  // namespace iocomp::config
