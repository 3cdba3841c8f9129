#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// One line of a script: words that are taken from left to right.
class Line {
 public:
  Line(int number, const std::string& text);

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_empty() const noexcept { return words_.empty(); }
  [[nodiscard]] bool is_over() const noexcept { return next_ == words_.size(); }

  /// The next word. @throws std::runtime_error at the end of the line.
  const std::string& word();
  std::int64_t integer();
  std::vector<std::int64_t> integers(int count);
  /// Two hexadecimal digits per byte, after an 'x' ("x" alone is no byte).
  std::vector<std::byte> bytes();

 private:
  int number_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// The lines of a file that are not empty.
/// @throws std::runtime_error when it cannot be read.
[[nodiscard]] std::vector<Line> read_script(const std::string& path);
