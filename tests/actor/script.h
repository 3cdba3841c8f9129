// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace actor {

/// One line of a script: `[@ranks] word argument... name=value...`, where ranks is `0,2` or `!1`.
struct Line {
  int number = 0;
  bool all_but = false;    ///< `ranks` are those that leave the line out
  std::vector<int> ranks;  ///< none: everybody
  std::string word;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> options;

  [[nodiscard]] bool concerns(int rank) const;
  /// @throws std::runtime_error naming the line.
  [[nodiscard]] const std::string& argument(std::size_t index) const;
  [[nodiscard]] bool has(const std::string& option) const { return options.contains(option); }
  [[nodiscard]] std::string option(const std::string& name, const std::string& otherwise) const;
};

/// @throws std::runtime_error when it cannot be read.
[[nodiscard]] std::vector<Line> read_script(const std::string& path);

/// Numbers between separators: "4x8" or "0,2"; none in "".
[[nodiscard]] std::vector<std::int64_t> numbers(const std::string& text, char separator);

/// Two hexadecimal digits for each byte.
[[nodiscard]] std::vector<std::byte> bytes_of(const std::string& hexadecimal);

/// Text in which + stands for a blank.
[[nodiscard]] std::string with_blanks(std::string text);

}  // namespace actor
