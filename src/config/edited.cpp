// SPDX-License-Identifier: BSD-3-Clause
#include "config/edited.h"

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/sources.h"

namespace iocomp::config {
namespace {

constexpr const char* edited_source = "the edited settings";

// "key" of "  key = 1", "[table]" of "[table]  # why".
std::string first_word(const std::string& line) {
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) {
    return {};
  }
  const auto end = line.find_first_of(" \t=#\r", begin);
  return line.substr(begin, end == std::string::npos ? end : end - begin);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::string edited(const std::string& text, const std::string& section,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  (void)read_toml(text, "the settings", true);
  std::vector<std::string> lines = lines_of(text);
  const std::string header = section.empty() ? "" : '[' + section + ']';
  std::size_t begin = 0;  // behind the header
  if (!header.empty()) {
    while (begin < lines.size() && first_word(lines[begin]) != header) {
      ++begin;
    }
    if (begin == lines.size()) {
      lines.push_back(header);
    }
    ++begin;
  }
  std::string wanted = header;
  for (const auto& [key, value] : values) {
    const std::string line = key + " = " + value;
    wanted += '\n' + line;
    std::size_t at = begin;
    while (at < lines.size() && !first_word(lines[at]).starts_with('[') &&
           first_word(lines[at]) != key) {
      ++at;
    }
    if (at < lines.size() && first_word(lines[at]) == key) {
      lines[at] = line;
    } else {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(begin), line);
    }
  }
  std::string result;
  for (const auto& line : lines) {
    result += line + '\n';
  }
  const Outcome read = outcome_of([&] { (void)read_toml(result, edited_source, false); });
  if (!read.ok()) {
    throw Error{ErrorCode::invalid_setting, "the settings say " + section +
                                                " in a way that only their author can edit (" +
                                                read.story + "); wanted is\n" + wanted};
  }
  return result;
}

}  // namespace iocomp::config
