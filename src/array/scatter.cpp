// SPDX-License-Identifier: BSD-3-Clause
#include "array/scatter.h"

#include <cstddef>
#include <cstdint>

#include "array/byte_order.h"
#include "array/copy_run.h"
#include "array/runs.h"
#include "base/stream_copy.h"

namespace iocomp::array {

void scatter(const PackedElements& elements, std::size_t swapped_bytes, std::byte* memory,
             std::int64_t begin) {
  const std::size_t element = elements.element_bytes;
  const std::byte* from = elements.bytes;
  RunCursor cursor{elements.shape, elements.region, elements.first, elements.count};
  Run run;
  while (cursor.next(run)) {
    const std::size_t bytes = static_cast<std::size_t>(run.elements) * element;
    std::byte* const to = memory + static_cast<std::size_t>(run.index - begin) * element;
    if (swapped_bytes > 0) {
      stream_swapped({from, bytes}, {to, bytes}, swapped_bytes);
    } else if (bytes < least_streamed_bytes) {
      copy_run(to, from, bytes);
    } else {
      stream_part(to, from, bytes);
    }
    from += bytes;
  }
  stream_end();
}

}  // namespace iocomp::array
