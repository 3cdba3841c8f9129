// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "array/cover.h"

namespace iocomp::steps {

/// The covers of the variables that were put, by number, in ascending order. Programs put their
/// variables in the order of definition, so a list that grows at its end is the cheapest map.
class Covers {
 public:
  using Item = std::pair<std::int32_t, array::Cover>;
  using Items = std::vector<Item>;

  Covers() = default;
  Covers(std::initializer_list<Item> items) : items_{items} {}

  /// Add to the cover of a variable. It takes constant time if no variable behind it was put.
  void add(std::int32_t variable, const array::Cover& cover);
  /// Add the puts of others.
  void add(const Covers& more);
  void reserve(std::size_t variables) { items_.reserve(variables); }
  void clear() noexcept { items_.clear(); }

  /// @throws std::out_of_range if nothing was put of the variable.
  [[nodiscard]] const array::Cover& at(std::int32_t variable) const;
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  [[nodiscard]] Items::const_iterator begin() const noexcept { return items_.begin(); }
  [[nodiscard]] Items::const_iterator end() const noexcept { return items_.end(); }
  friend bool operator==(const Covers&, const Covers&) = default;

 private:
  Items items_;
};

}  // namespace iocomp::steps
