// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "array/box.h"
#include "contents/variable.h"
#include "formats/link_file.h"
#include "reading/committed.h"
#include "reading/input.h"

namespace iocomp::vtkhdf {

/// The group that has everything.
inline constexpr const char* root = "VTKHDF";
/// The most dimensions of space.
inline constexpr std::size_t most_axes = 3;

/// Links to the values of a committed file.
class Links {
 public:
  /// @param is_beside  the link files lie in the folder of the data, and move with it.
  Links(reading::Input& input, bool is_beside) : input_{&input}, is_beside_{is_beside} {}

  [[nodiscard]] reading::Input& input() const noexcept { return *input_; }
  /// A link to a variable in a step. `start` and `count` are its part of a dataset.
  /// @throws Error{unsupported} where nothing can link to it; Error{storage_failure}.
  [[nodiscard]] formats::Link to(const std::string& variable,
                                 const reading::Committed::Place& place, formats::Extent start,
                                 formats::Extent count) const;
  /// All values of a variable in a step. @throws Error.
  [[nodiscard]] std::vector<double> reals(const std::string& variable,
                                          const reading::Committed::Place& place) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& variable,
                                                   const reading::Committed::Place& place) const;

 private:
  reading::Input* input_;
  bool is_beside_;
};

/// The last values up to a step; null before the first.
[[nodiscard]] const reading::Committed::Place* shown(
    const std::vector<reading::Committed::Place>& places, std::int64_t step);
/// Finds a variable; null if there is none.
[[nodiscard]] const reading::Committed::Variable* find(const reading::Committed& committed,
                                                       std::string_view name);
[[nodiscard]] const contents::Attribute* find(const contents::Attributes& attributes,
                                              const char* name);
/// The text of an attribute; empty where there is none.
[[nodiscard]] std::string_view text_in(const contents::Attributes& attributes, const char* name);

/// The names of the dimensions of a variable, without that of the steps; none where nobody says
/// them.
[[nodiscard]] std::vector<std::string> dimensions_of(const reading::Committed::Variable& variable);

[[nodiscard]] formats::Extent extent_of(const array::Shape& shape);

/// A dataset that a file of links holds itself. @param path  below the group of VTKHDF.
[[nodiscard]] formats::Dataset dataset(std::string_view path,
                                       const std::vector<std::int64_t>& values);
[[nodiscard]] formats::Dataset dataset(std::string_view path, const std::vector<double>& values);
[[nodiscard]] contents::Attribute attribute(const std::vector<std::int64_t>& values);
[[nodiscard]] contents::Attribute attribute(const std::vector<double>& values);

}  // namespace iocomp::vtkhdf
