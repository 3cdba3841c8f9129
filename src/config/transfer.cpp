// SPDX-License-Identifier: BSD-3-Clause
#include "config/transfer.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/sources.h"

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

std::string text_of(const std::vector<Entry>& entries) {
  std::string out;
  for (const auto& [key, value] : entries) {
    append_escaped(out, key, '\t');
    append_escaped(out, value.text, '\t');
    append_escaped(out, value.origin, '\n');
  }
  return out;
}

std::vector<Entry> entries_of(std::string_view text) {
  std::vector<Entry> entries;
  while (!text.empty()) {
    Entry entry;
    entry.key = take_field(text, '\t');
    entry.value.text = take_field(text, '\t');
    entry.value.origin = take_field(text, '\n');
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace iocomp::config
