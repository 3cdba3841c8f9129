// SPDX-License-Identifier: BSD-3-Clause
#include "script.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace actor {

bool Line::concerns(int rank) const {
  return ranks.empty() || (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) != all_but;
}

const std::string& Line::argument(std::size_t index) const {
  if (index >= arguments.size()) {
    throw std::runtime_error{"line " + std::to_string(number) + ": \"" + word + "\" needs " +
                             std::to_string(index + 1) + " arguments"};
  }
  return arguments[index];
}

std::string Line::option(const std::string& name, const std::string& otherwise) const {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

std::vector<std::int64_t> numbers(const std::string& text, char separator) {
  std::vector<std::int64_t> values;
  std::istringstream stream{text};
  for (std::string part; std::getline(stream, part, separator);) {
    values.push_back(std::stoll(part));
  }
  return values;
}

std::vector<std::byte> bytes_of(const std::string& hexadecimal) {
  constexpr int base = 16;
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hexadecimal.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(hexadecimal.substr(at, 2), nullptr, base)));
  }
  return bytes;
}

std::string with_blanks(std::string text) {
  std::replace(text.begin(), text.end(), '+', ' ');
  return text;
}

namespace {

void read_ranks(const std::string& text, Line& line) {
  line.all_but = text.starts_with('!');
  for (const auto rank : numbers(text.substr(line.all_but ? 1 : 0), ',')) {
    line.ranks.push_back(static_cast<int>(rank));
  }
}

// "a%20b" is "a b".
std::string without_escapes(const std::string& part) {
  std::string text;
  for (std::size_t at = 0; at < part.size(); ++at) {
    if (part[at] == '%') {
      const auto byte = bytes_of(part.substr(at + 1, 2));
      for (const auto one : byte) {
        text += static_cast<char>(one);
      }
      at += 2;
    } else {
      text += part[at];
    }
  }
  return text;
}

Line read_line(const std::string& text, int number) {
  Line line;
  line.number = number;
  std::istringstream stream{text};
  for (std::string part; stream >> part;) {
    const auto equals = part.find('=');
    if (part.starts_with('@') && line.word.empty()) {
      read_ranks(part.substr(1), line);
    } else if (line.word.empty()) {
      line.word = part;
    } else if (equals != std::string::npos) {
      line.options[part.substr(0, equals)] = without_escapes(part.substr(equals + 1));
    } else {
      line.arguments.push_back(without_escapes(part));
    }
  }
  return line;
}

}  // namespace

std::vector<Line> read_script(const std::string& path) {
  std::ifstream file{path};
  if (!file) {
    throw std::runtime_error{"cannot read the script " + path};
  }
  std::vector<Line> lines;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    Line line = read_line(text, ++number);
    if (!line.word.empty()) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace actor
