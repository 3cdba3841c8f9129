// SPDX-License-Identifier: BSD-3-Clause
#include "base/byte_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/nearest.h"

namespace iocomp {
namespace {

struct Unit {
  std::string_view lower_case;
  std::int64_t bytes;
};
constexpr std::array<Unit, 10> units{{
    {"", 1},
    {"b", 1},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
    {"kib", std::int64_t{1} << 10},
    {"mib", std::int64_t{1} << 20},
    {"gib", std::int64_t{1} << 30},
    {"tib", std::int64_t{1} << 40},
}};

constexpr bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// Integers are exact up to the last of 63 bits, which a double would not be.
std::optional<std::int64_t> whole(std::string_view digits, std::int64_t unit) noexcept {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      count > std::numeric_limits<std::int64_t>::max() / unit) {
    return std::nullopt;
  }
  return count * unit;
}

std::optional<std::int64_t> fractional(std::string_view digits, std::int64_t unit) noexcept {
  double count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count,
                                            std::chars_format::fixed);
  if (error != std::errc{} || end != digits.data() + digits.size() || unit == 1) {
    return std::nullopt;
  }
  const double bytes = std::floor(count * static_cast<double>(unit));
  if (!(bytes < 0x1p63)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  text = trimmed(text);
  std::size_t length = 0;
  while (length < text.size() && (is_digit(text[length]) || text[length] == '.')) {
    ++length;
  }
  const std::string_view digits = text.substr(0, length);
  const auto* const unit =
      std::ranges::find(units, lower_case(trimmed(text.substr(length))), &Unit::lower_case);
  if (digits.empty() || !is_digit(digits.front()) || !is_digit(digits.back()) ||
      unit == units.end()) {
    return std::nullopt;
  }
  return digits.find('.') == std::string_view::npos ? whole(digits, unit->bytes)
                                                    : fractional(digits, unit->bytes);
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0, which is one of the next unit.
  while (unit + 1 < names.size() && std::abs(value) >= (unit == 0 ? 1024 : 1023.95)) {
    value /= 1024;
    ++unit;
  }
  const double tenths = std::round(value * 10);
  const bool has_decimal = std::fmod(tenths, 10) != 0;
  return fmt::format("{:.{}f} {}", tenths / 10, has_decimal ? 1 : 0, names.at(unit));
}

}  // namespace iocomp
