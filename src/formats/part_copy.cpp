// SPDX-License-Identifier: BSD-3-Clause
#include "formats/part_copy.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "array/box.h"
#include "array/copy_run.h"
#include "array/memory_box.h"
#include "array/paired_runs.h"
#include "array/repeat.h"
#include "array/runs.h"
#include "formats/source.h"

namespace iocomp::formats {

std::optional<array::Box> common(const array::Box& one, const array::Box& other) {
  array::Box both{.dimensions = one.dimensions, .start = {}, .count = {}};
  for (std::size_t d = 0; d < static_cast<std::size_t>(one.dimensions); ++d) {
    both.start[d] = std::max(one.start[d], other.start[d]);
    both.count[d] =
        std::min(one.start[d] + one.count[d], other.start[d] + other.count[d]) - both.start[d];
    if (both.count[d] <= 0) {
      return std::nullopt;
    }
  }
  return both;
}

array::Box relative(array::Box box, const array::Box& outer) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    box.start[d] -= outer.start[d];
  }
  return box;
}

array::MemoryBox memory_of(const array::Box& part, const array::Box& box, const Destination& to) {
  array::MemoryBox memory = to.memory;
  memory.box.count = part.count;
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.dimensions); ++d) {
    memory.box.start[d] += part.start[d] - box.start[d];
  }
  return memory;
}

void copy_part(const array::Box& part, const std::byte* packed, const array::Box& box,
               const Destination& to, std::size_t element_bytes) {
  const auto both = common(part, box);
  if (!both) {
    return;
  }
  const array::Shape shape{.dimensions = part.dimensions, .extent = part.count};
  array::PairedRuns runs{shape, relative(*both, part), memory_of(*both, box, to)};
  array::PairedRun run;
  while (runs.next(run)) {
    array::copy_run(to.local + static_cast<std::size_t>(run.local_index) * element_bytes,
                    packed + static_cast<std::size_t>(run.index) * element_bytes,
                    static_cast<std::size_t>(run.elements) * element_bytes);
  }
}

void fill_part(const array::Box& part, const array::Box& box, const Destination& to,
               std::span<const std::byte> element) {
  const array::MemoryBox memory = memory_of(part, box, to);
  array::RunCursor runs{memory.shape, memory.box, 0, array::elements(memory.box)};
  array::Run run;
  while (runs.next(run)) {
    array::repeat(element, {to.local + static_cast<std::size_t>(run.index) * element.size(),
                            static_cast<std::size_t>(run.elements) * element.size()});
  }
}

}  // namespace iocomp::formats
