#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "config/settings.h"

// Settings on their way to other ranks: one line per value, its three fields ended by tabs and a
// line break.

namespace iocomp::config {
namespace {

void append_escaped(std::string& out, std::string_view field, char end) {
  for (const char letter : field) {
    if (letter == '\\') {
      out += "\\\\";
    } else if (letter == '\n') {
      out += "\\n";
    } else if (letter == '\t') {
      out += "\\t";
    } else {
      out += letter;
    }
  }
  out += end;
}

char unescaped(char letter) noexcept {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

/// Take one field off the front of `text`.
std::string take_field(std::string_view& text, char end) {
  std::string field;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == end) {
      text.remove_prefix(at + 1);
      return field;
    }
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      field += unescaped(text[at]);
    } else {
      field += text[at];
    }
  }
  throw Error{ErrorCode::internal, "settings from another rank end within a field"};
}

}  // namespace

std::string Settings::to_text() const {
  std::string out;
  for (const auto& [key, value] : values_) {
    append_escaped(out, key, '\t');
    append_escaped(out, value.text, '\t');
    append_escaped(out, value.origin, '\n');
  }
  return out;
}

Settings Settings::from_text(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    auto key = take_field(text, '\t');
    auto value = take_field(text, '\t');
    auto origin = take_field(text, '\n');
    settings.values_[std::move(key)] = {.text = std::move(value), .origin = std::move(origin)};
  }
  return settings;
}

}  // namespace iocomp::config
