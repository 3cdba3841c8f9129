#include "script.h"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

Line::Line(int number, const std::string& text) : number_{number} {
  std::istringstream rest{text};
  for (std::string word; rest >> word;) {
    words_.push_back(word);
  }
}

const std::string& Line::word() {
  if (is_over()) {
    throw std::runtime_error{"a word is missing at the end of the line"};
  }
  return words_[next_++];
}

std::int64_t Line::integer() { return std::stoll(word()); }

std::vector<std::int64_t> Line::integers(int count) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(integer());
  }
  return all;
}

std::vector<std::byte> Line::bytes() {
  constexpr int hexadecimal = 16;
  const std::string& text = word();
  std::vector<std::byte> all;
  for (std::size_t at = 1; at + 1 < text.size(); at += 2) {
    all.push_back(static_cast<std::byte>(std::stoi(text.substr(at, 2), nullptr, hexadecimal)));
  }
  return all;
}

std::vector<Line> read_script(const std::string& path) {
  std::ifstream file{path};
  std::vector<Line> lines;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    if (Line line{++number, text}; !line.is_empty()) {
      lines.push_back(line);
    }
  }
  if (lines.empty()) {
    throw std::runtime_error{path + ": not a script: it cannot be read or is empty"};
  }
  return lines;
}
