#pragma once

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
  [[nodiscard]] std::string option(const std::string& name, const std::string& otherwise) const;
};

[[nodiscard]] std::vector<Line> read_script(const std::string& path);

/// Numbers between separators: "4x8" or "0,2".
[[nodiscard]] std::vector<std::int64_t> numbers(const std::string& text, char separator);

}  // namespace actor
