#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "array/region.h"
#include "formats/format.h"

namespace iocomp::formats {

/// Target::write for elements `first` to `first + count` of the packed order of a region. Where
/// that is a list of runs, each is a selection of the whole array.
void write_region(Target& target, const Placed& where, const array::Region& region,
                  std::int64_t first, std::int64_t count, std::span<const std::byte> bytes);

}  // namespace iocomp::formats
