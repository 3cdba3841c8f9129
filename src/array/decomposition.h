// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <vector>

#include "array/box.h"
#include "array/cover.h"
#include "array/run_list.h"

namespace iocomp::array {

/// The places of elements in a program's own array that has them in another order, or has others in
/// between. 16 bytes per part that is contiguous in both.
class Gather {
 public:
  /// Add elements behind all others of the packed order. @pre count > 0
  void append(std::int64_t local, std::int64_t count);
  void shrink() { parts_.shrink_to_fit(); }
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
  /// True if the packed order is that of the array.
  [[nodiscard]] bool is_identity() const noexcept {
    return parts_.empty() || (parts_.size() == 1 && parts_.front().local == 0);
  }
  /// Copy elements `first` to `first + count` of the packed order from `local` to `packed`.
  void pack(std::size_t element_bytes, const std::byte* local, std::int64_t first,
            std::int64_t count, std::byte* packed) const noexcept;
  /// The same as calls `take(local, count)`: so many elements of the array from `local` on.
  template <typename Take>
  void visit(std::int64_t first, std::int64_t count, Take&& take) const {
    auto next = part_behind(first);
    const std::int64_t last = first + count;
    while (first < last) {
      const Part& part = *std::prev(next);
      const std::int64_t end = std::min(last, next == parts_.end() ? elements_ : next->packed);
      take(part.local + first - part.packed, end - first);
      first = end;
      ++next;
    }
  }
  /// The number of elements that the array has at least.
  [[nodiscard]] std::int64_t reach() const noexcept { return reach_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return parts_.capacity() * sizeof(Part);
  }

 private:
  struct Part {
    std::int64_t local;   // element of the program's array
    std::int64_t packed;  // elements of the parts before this one
  };
  [[nodiscard]] std::vector<Part>::const_iterator part_behind(std::int64_t packed) const noexcept;

  std::vector<Part> parts_;
  std::int64_t elements_ = 0;
  std::int64_t reach_ = 0;
};

/// The elements of an array that one rank has: described once and used for any number of puts.
struct Decomposition {
  Shape shape;
  std::shared_ptr<const RunList> runs;
  std::shared_ptr<const Gather> gather;  ///< null: the program has them in packed order
  Cover cover;
};

/// Makes one from runs in any order: run i is elements `first[i]` to `first[i] + count[i]` of the
/// row-major order of the shape. The program has them one behind the other as they are given here.
/// Runs with a negative `first` are not written. O(n log n), O(n) if they ascend.
/// @param count  empty: 1 of each.
/// @throws Error{invalid_argument} naming the run that leaves the shape or has a negative count, or
/// the element that is there twice.
[[nodiscard]] Decomposition decompose(const Shape& shape, std::span<const std::int64_t> first,
                                      std::span<const std::int64_t> count = {});

}  // namespace iocomp::array
