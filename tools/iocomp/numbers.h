// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "array/element_type.h"

namespace iocomp::command {

/// An element as text, with as many digits as its type needs; a complex one as "(1,-2)".
[[nodiscard]] std::string text_of(array::ElementType type, const std::byte* element);

/// A number that is told as text. One that JSON has none for stays text, a complex one is a pair;
/// nothing is null.
[[nodiscard]] nlohmann::ordered_json json_number(std::optional<std::string> number);

/// Smallest, largest and mean of numbers that come in parts. Those that are no number (NaN) are
/// counted and left out. There is none of text, and of complex numbers the mean alone is.
class Statistics {
 public:
  explicit Statistics(array::ElementType type) : type_{type} {}

  void add(std::span<const std::byte> elements);

  /// The value as text; nothing if there is none.
  [[nodiscard]] std::optional<std::string> minimum() const;
  [[nodiscard]] std::optional<std::string> maximum() const;
  [[nodiscard]] std::optional<std::string> mean() const;
  [[nodiscard]] std::int64_t not_a_number() const noexcept { return not_a_number_; }

 private:
  [[nodiscard]] std::string in_type(long double value) const;

  array::ElementType type_;
  std::int64_t count_ = 0;  // of numbers
  std::int64_t not_a_number_ = 0;
  // They hold every integer of 64 bits, and every double.
  long double minimum_ = 0;
  long double maximum_ = 0;
  long double sum_ = 0;
  long double imaginary_sum_ = 0;
};

}  // namespace iocomp::command
