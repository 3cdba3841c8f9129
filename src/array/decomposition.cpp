// SPDX-License-Identifier: BSD-3-Clause
#include "array/decomposition.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/region.h"
#include "array/run_list.h"
#include "base/error.h"

namespace iocomp::array {
namespace {

struct MappedRun {
  std::int64_t index;  // in the array
  std::int64_t count;
  std::int64_t local;  // in the program's memory
};

[[noreturn]] void refuse_runs(const std::string& story) {
  throw Error{ErrorCode::invalid_argument, story};
}

Decomposition sorted(const Shape& shape, std::vector<MappedRun> parts) {
  const auto by_index = [](const MappedRun& a, const MappedRun& b) { return a.index < b.index; };
  if (!std::is_sorted(parts.begin(), parts.end(), by_index)) {
    std::sort(parts.begin(), parts.end(), by_index);
  }
  std::size_t runs = 0;
  std::int64_t end = -1;
  for (const MappedRun& part : parts) {
    if (part.index < end) {
      refuse_runs("element " + std::to_string(part.index) +
                  " (row-major) is there twice: what a rank has must not overlap");
    }
    runs += part.index == end ? 0 : 1;
    end = part.index + part.count;
  }
  RunList list;
  list.reserve(runs);
  Gather gather;
  for (const MappedRun& part : parts) {
    list.append({part.index, part.count});
    gather.append(part.local, part.count);
  }
  Decomposition made{shape, std::make_shared<const RunList>(std::move(list)), nullptr, {}};
  made.cover = cover_of(shape, made.runs);
  if (!gather.is_identity()) {
    gather.shrink();
    made.gather = std::make_shared<const Gather>(std::move(gather));
  }
  return made;
}

template <std::size_t bytes>
std::byte* copy_elements(const std::byte* from, std::int64_t count, std::byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += bytes, to += bytes) {
    std::memcpy(to, from, bytes);
  }
  return to;
}

// Parts of one element are frequent, and a call of memcpy for each costs more than the element.
std::byte* copy(const std::byte* from, std::size_t element_bytes, std::int64_t count,
                std::byte* to) noexcept {
  constexpr std::int64_t few = 4;
  if (count <= few && element_bytes == sizeof(double)) {
    return copy_elements<sizeof(double)>(from, count, to);
  }
  if (count <= few && element_bytes == sizeof(float)) {
    return copy_elements<sizeof(float)>(from, count, to);
  }
  const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
  std::memcpy(to, from, bytes);
  return to + bytes;
}

}  // namespace

void Gather::append(std::int64_t local, std::int64_t count) {
  const bool follows =
      !parts_.empty() && parts_.back().local + elements_ - parts_.back().packed == local;
  if (!follows) {
    parts_.push_back({local, elements_});
  }
  elements_ += count;
  reach_ = std::max(reach_, local + count);
}

std::vector<Gather::Part>::const_iterator Gather::part_behind(std::int64_t packed) const noexcept {
  return std::upper_bound(
      parts_.begin(), parts_.end(), packed,
      [](std::int64_t wanted, const Part& part) { return wanted < part.packed; });
}

void Gather::pack(std::size_t element_bytes, const std::byte* local, std::int64_t first,
                  std::int64_t count, std::byte* packed) const noexcept {
  visit(first, count, [&](std::int64_t from, std::int64_t elements) {
    packed = copy(local + static_cast<std::size_t>(from) * element_bytes, element_bytes, elements,
                  packed);
  });
}

Decomposition decompose(const Shape& shape, std::span<const std::int64_t> first,
                        std::span<const std::int64_t> count) {
  const std::int64_t all = elements(shape);
  std::vector<MappedRun> parts;
  parts.reserve(count.size());
  std::int64_t local = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::int64_t begin = first[i];
    const std::int64_t size = count.empty() ? 1 : count[i];
    if (size < 0 || begin > all || (begin >= 0 && size > all - begin)) {
      refuse_runs("run " + std::to_string(i) + " begins at element " + std::to_string(begin) +
                  " and has " + std::to_string(size) + "; the array (" + text(shape) + ") has " +
                  std::to_string(all) + " elements, counted from 0 (negative: not written)");
    }
    const bool follows = !parts.empty() && parts.back().index + parts.back().count == begin &&
                         parts.back().local + parts.back().count == local;
    if (begin >= 0 && follows) {
      parts.back().count += size;
    } else if (begin >= 0 && size > 0) {
      parts.push_back({begin, size, local});
    }
    // No overlap is known to be absent yet, so that the sum is bounded by nothing.
    if (__builtin_add_overflow(local, size, &local)) {
      refuse_runs("the runs have more elements than 63 bits count");
    }
  }
  return sorted(shape, std::move(parts));
}

}  // namespace iocomp::array
