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

/// Call `take` for each run of the selected elements, which are packed in `bytes`: with its place
/// in the variable, in bytes, and its own bytes.
template <typename Take>
void for_each_run(const Variable& variable, const Selection& what, std::span<const std::byte> bytes,
                  Take take) {
  const auto element_bytes = static_cast<std::int64_t>(array::size_bytes(variable.type));
  array::RunCursor runs{variable.shape, what.box, what.first, what.count};
  array::Run run;
  while (runs.next(run)) {
    const auto length = static_cast<std::size_t>(run.elements * element_bytes);
    take(run.index * element_bytes, bytes.first(length));
    bytes = bytes.subspan(length);
  }
}

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
