#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "config/parse.h"
#include "config/settings.h"

namespace iocomp::config {
namespace {

/// Values were checked when they were read, so one that does not parse was asked for as the wrong
/// type.
template <typename Parsed>
auto required(Parsed parsed, std::string_view key, std::string_view text, const char* type) {
  if (!parsed) {
    throw Error{ErrorCode::internal,
                fmt::format("the setting {} = \"{}\" was asked for as {}", key, text, type)};
  }
  return *parsed;
}

}  // namespace

std::string Settings::text(std::string_view key) const { return value(key).text; }

std::int64_t Settings::integer(std::string_view key) const {
  const auto found = text(key);
  return required(parse_integer(found), key, found, "an integer");
}

double Settings::real(std::string_view key) const {
  const auto found = text(key);
  return required(parse_real(found), key, found, "a number");
}

bool Settings::boolean(std::string_view key) const {
  const auto found = text(key);
  return required(parse_boolean(found), key, found, "a boolean");
}

std::int64_t Settings::bytes(std::string_view key) const {
  const auto found = text(key);
  return required(parse_bytes(found), key, found, "a size");
}

std::vector<std::int64_t> Settings::integers(std::string_view key) const {
  const auto found = text(key);
  return required(parse_list(found), key, found, "a list of integers");
}

std::string Settings::file_text(std::string_view file, std::string_view key) const {
  return file_value(file, key).text;
}

std::int64_t Settings::file_integer(std::string_view file, std::string_view key) const {
  const auto found = file_text(file, key);
  return required(parse_integer(found), key, found, "an integer");
}

bool Settings::file_boolean(std::string_view file, std::string_view key) const {
  const auto found = file_text(file, key);
  return required(parse_boolean(found), key, found, "a boolean");
}

std::int64_t Settings::file_bytes(std::string_view file, std::string_view key) const {
  const auto found = file_text(file, key);
  return required(parse_bytes(found), key, found, "a size");
}

}  // namespace iocomp::config
