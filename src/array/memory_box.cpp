// SPDX-License-Identifier: BSD-3-Clause
#include "array/memory_box.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "array/box.h"
#include "array/copy_run.h"
#include "array/runs.h"
#include "base/error.h"

namespace iocomp::array {
namespace {

void check_inside(const MemoryBox& memory, std::size_t d) {
  const std::int64_t start = memory.box.start[d];
  const std::int64_t count = memory.box.count[d];
  const std::int64_t extent = memory.shape.extent[d];
  if (start < 0 || count > extent || start > extent - count) {
    throw Error{ErrorCode::invalid_argument,
                "the block does not lie in the local array: in dimension " + std::to_string(d) +
                    " it starts at " + std::to_string(start) + " and has " + std::to_string(count) +
                    " elements, the local array has " + std::to_string(extent)};
  }
}

}  // namespace

MemoryBox make_memory_box(const Box& block, const std::int64_t* memory_shape,
                          const std::int64_t* memory_start) {
  const bool is_dense = memory_shape == nullptr && memory_start == nullptr;
  if (!is_dense && block.dimensions > 0 && (memory_shape == nullptr || memory_start == nullptr)) {
    throw Error{ErrorCode::invalid_argument,
                "the shape of the local array and the start of the block in it must both be given, "
                "or both be null for a dense block"};
  }
  MemoryBox memory;
  memory.shape = make_shape(block.dimensions, is_dense ? block.count.data() : memory_shape);
  memory.box.dimensions = block.dimensions;
  memory.box.count = block.count;
  for (std::size_t d = 0; d < static_cast<std::size_t>(block.dimensions); ++d) {
    memory.box.start[d] = is_dense ? 0 : memory_start[d];
    check_inside(memory, d);
  }
  return memory;
}

MemoryBox dense_memory(std::int64_t elements) noexcept {
  return {.shape = {.dimensions = 1, .extent = {elements}},
          .box = {.dimensions = 1, .start = {}, .count = {elements}}};
}

void pack(const MemoryBox& memory, std::size_t element_bytes, const std::byte* local,
          std::int64_t first, std::int64_t count, std::byte* packed) noexcept {
  RunCursor cursor{memory.shape, memory.box, first, count};
  Run run;
  while (cursor.next(run)) {
    const std::size_t bytes = static_cast<std::size_t>(run.elements) * element_bytes;
    copy_run(packed, local + static_cast<std::size_t>(run.index) * element_bytes, bytes);
    packed += bytes;
  }
}

void unpack(const MemoryBox& memory, std::size_t element_bytes, const std::byte* packed,
            std::int64_t first, std::int64_t count, std::byte* local) noexcept {
  RunCursor cursor{memory.shape, memory.box, first, count};
  Run run;
  while (cursor.next(run)) {
    const std::size_t bytes = static_cast<std::size_t>(run.elements) * element_bytes;
    copy_run(local + static_cast<std::size_t>(run.index) * element_bytes, packed, bytes);
    packed += bytes;
  }
}

}  // namespace iocomp::array
