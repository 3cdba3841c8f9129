#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "array/box.h"
#include "contents/variable.h"

namespace iocomp::contents {

/// A block that a rank has put, and the checksum of its values there (array/checksum.h).
struct BlockSum {
  array::Box box;
  std::uint64_t checksum = 0;

  friend bool operator==(const BlockSum&, const BlockSum&) = default;
};
/// Those of a variable in a step; null where there are none.
using BlockSums = std::shared_ptr<const std::vector<BlockSum>>;

/// A variable at one step, and where it lies.
struct Placed {
  std::int64_t step = 0;
  Variable variable;
  std::int64_t offset =
      -1;  ///< of its first byte in the file; -1 where the format library keeps it
  BlockSums sums{};
};

/// What a finished file must know besides its data. Steps that are not in it are absent: their data
/// are not kept.
struct Description {
  std::vector<Placed> contents;         ///< in order of step, then definition
  Attributes attributes;                ///< of the file
  std::vector<Attributes> of_variable;  ///< indexed by Variable::id
};

/// Steps without bytes cost a file nothing: so many of them it may claim. A damaged one must not
/// take all memory.
inline constexpr std::int64_t most_silent_steps = std::int64_t{1} << 24;

/// What one committed file holds.
struct Inventory {
  std::vector<std::int64_t> steps;  ///< that are committed, ascending; also those without variables
  std::vector<Placed> contents;     ///< in order of step, then definition
  Attributes attributes;            ///< of the file
  std::map<std::string, Attributes> of_variable;  ///< by name
};

}  // namespace iocomp::contents
