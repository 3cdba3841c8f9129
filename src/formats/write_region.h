// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "array/element_type.h"
#include "array/region.h"
#include "array/runs.h"
#include "formats/format.h"

namespace iocomp::formats {

/// SharedTarget::write or StepTarget::write for elements `first` to `first + count` of the packed
/// order of a region. Where that is a list of runs, each is a selection of the whole array.
template <typename AnyTarget>
void write_region(AnyTarget& target, const Placed& where, const array::Region& region,
                  std::int64_t first, std::int64_t count, std::span<const std::byte> bytes) {
  if (!region.runs) {
    target.write(where, {region.box, first, count}, bytes);
    return;
  }
  const array::Box all = array::whole(where.variable.shape);
  array::RunCursor runs{where.variable.shape, region, first, count};
  array::Run run;
  while (runs.next(run)) {
    const std::size_t run_bytes =
        static_cast<std::size_t>(run.elements) * array::size_bytes(where.variable.type);
    target.write(where, {all, run.index, run.elements}, bytes.first(run_bytes));
    bytes = bytes.subspan(run_bytes);
  }
}

}  // namespace iocomp::formats
