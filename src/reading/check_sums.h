// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "array/box.h"
#include "array/element_type.h"
#include "contents/description.h"
#include "formats/source.h"
#include "reading/committed.h"

namespace iocomp::reading {

/// A block whose values are not those that were put.
struct Damage {
  array::Box box;
  std::string story;  ///< "the block [0:4] has the checksum ..., it was put with ..."
};

/// The first damaged block among those that lie wholly in a box that was read; nothing if there is
/// none. @param read  the place of the box's elements now.
[[nodiscard]] std::optional<Damage> find_damage(const contents::BlockSums& sums,
                                                array::ElementType type, const array::Box& box,
                                                const formats::Destination& read);

/// A committed part whose values are not those that were put, or that cannot be read.
struct Finding {
  std::string path;  ///< of the file; empty if `story` tells it
  std::int64_t step = 0;
  std::string variable{};           ///< empty for the whole step
  std::optional<array::Box> box{};  ///< nothing if it is not one box
  std::string story;
};
struct Checked {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  std::int64_t elements_without = 0;  ///< elements without a checksum
};

/// Read all values, part by part into a small buffer, and compare those that have a checksum.
/// @param tell  called for each finding, by step.
[[nodiscard]] Checked check_all(const Committed& committed, const std::string& modules,
                                const std::function<void(const Finding&)>& tell);

}  // namespace iocomp::reading
