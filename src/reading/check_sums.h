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

namespace iocomp::reading {

/// A block whose values are not those that were put.
struct Damage {
  array::Box box;
  std::string story;  ///< "the block [0:4] has the checksum ..., it was put with ..."
};

/// The first damaged one of the blocks that lie wholly in a box that was read; nothing where there
/// is none. @param read  where the elements of the box are now.
[[nodiscard]] std::optional<Damage> find_damage(const contents::BlockSums& sums,
                                                array::ElementType type, const array::Box& box,
                                                const formats::Destination& read);

/// What `check_blocks` has looked at.
struct Checked {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  std::int64_t elements_without = 0;  ///< that no checksum is of
};

/// Read all blocks of a variable in a step that have a checksum, each part by part into a small
/// buffer, and tell of those that are damaged, or that cannot be read.
[[nodiscard]] Checked check_blocks(formats::Source& source, const contents::Placed& placed,
                                   const std::function<void(const Damage&)>& tell);

}  // namespace iocomp::reading
