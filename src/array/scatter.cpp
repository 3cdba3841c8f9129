// SPDX-License-Identifier: BSD-3-Clause
#include "array/scatter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "array/byte_order.h"
#include "array/copy_run.h"
#include "array/run_list.h"
#include "array/runs.h"
#include "base/stream_copy.h"

namespace iocomp::array {
namespace {

// Calls `copy(to, from, bytes)` for each run. Those of a list are walked here, because they are
// short as a rule: a call takes longer than their copy.
template <typename Copy>
void walk(const PackedElements& elements, std::byte* memory, std::int64_t begin, Copy&& copy) {
  const std::byte* from = elements.bytes;
  const auto take = [&](const Run& run) {
    const std::size_t bytes = static_cast<std::size_t>(run.elements) * elements.element_bytes;
    copy(memory + static_cast<std::size_t>(run.index - begin) * elements.element_bytes, from,
         bytes);
    from += bytes;
  };
  Run run;
  if (elements.region.runs == nullptr || elements.count == 0) {
    RunCursor cursor{elements.shape, elements.region, elements.first, elements.count};
    while (cursor.next(run)) {
      take(run);
    }
    return;
  }
  const RunList& list = *elements.region.runs;
  std::size_t number = list.run_of(elements.first);
  std::int64_t before = elements.first - list.packed_begin(number);
  for (std::int64_t left = elements.count; left > 0; left -= run.elements) {
    run = list.run(number++);
    run.index += before;
    run.elements = std::min(left, run.elements - before);
    before = 0;
    take(run);
  }
}

std::uint32_t reversed(std::uint32_t number) { return __builtin_bswap32(number); }
std::uint64_t reversed(std::uint64_t number) { return __builtin_bswap64(number); }

template <typename Number>
void walk_reversed(const PackedElements& elements, std::byte* memory, std::int64_t begin) {
  walk(elements, memory, begin, [](std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes >= least_streamed_bytes) {
      stream_swapped({from, bytes}, {to, bytes}, sizeof(Number));
      return;
    }
    for (std::size_t at = 0; at < bytes; at += sizeof(Number)) {
      Number number = 0;
      std::memcpy(&number, from + at, sizeof number);
      number = reversed(number);
      std::memcpy(to + at, &number, sizeof number);
    }
  });
}

}  // namespace

void scatter(const PackedElements& elements, std::size_t swapped_bytes, std::byte* memory,
             std::int64_t begin) {
  if (swapped_bytes == sizeof(std::uint64_t)) {
    walk_reversed<std::uint64_t>(elements, memory, begin);
  } else if (swapped_bytes == sizeof(std::uint32_t)) {
    walk_reversed<std::uint32_t>(elements, memory, begin);
  } else if (swapped_bytes > 0) {
    walk(elements, memory, begin, [&](std::byte* to, const std::byte* from, std::size_t bytes) {
      stream_swapped({from, bytes}, {to, bytes}, swapped_bytes);
    });
  } else {
    walk(elements, memory, begin, [](std::byte* to, const std::byte* from, std::size_t bytes) {
      bytes < least_streamed_bytes ? copy_run(to, from, bytes) : stream_part(to, from, bytes);
    });
  }
  stream_end();
}

}  // namespace iocomp::array
