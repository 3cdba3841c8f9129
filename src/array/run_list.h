// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "array/runs.h"

namespace iocomp::array {

/// One rank's elements of an array that is cut irregularly: runs in ascending order that neither
/// overlap nor touch. The "packed order" of its elements is that of the array. 16 bytes per run.
class RunList {
 public:
  void reserve(std::size_t runs) { entries_.reserve(runs); }
  /// Add a run behind all others; joined with the last one where they touch.
  /// @pre run.elements > 0, run.index >= end().
  void append(const Run& run);
  void shrink() { entries_.shrink_to_fit(); }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
  /// Index in the array behind the last element; 0 when there is none.
  [[nodiscard]] std::int64_t end() const noexcept;
  [[nodiscard]] Run run(std::size_t number) const noexcept {
    return {entries_[number].index, packed_end(number) - entries_[number].packed};
  }
  /// The packed position of the first element of a run.
  [[nodiscard]] std::int64_t packed_begin(std::size_t number) const noexcept {
    return entries_[number].packed;
  }
  /// The number of the run that an element of the packed order is in. O(log runs).
  /// @pre 0 <= packed < elements()
  [[nodiscard]] std::size_t run_of(std::int64_t packed) const noexcept;
  /// The number of elements with an index below `index`. O(log runs).
  [[nodiscard]] std::int64_t elements_below(std::int64_t index) const noexcept;
  /// Elements `first` to `first + count` of the packed order, as a list of their own.
  [[nodiscard]] RunList part(std::int64_t first, std::int64_t count) const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return entries_.capacity() * sizeof(Entry);
  }
  friend bool operator==(const RunList&, const RunList&) = default;

 private:
  struct Entry {
    std::int64_t index;   // in the array, of the first element
    std::int64_t packed;  // elements of the runs before this one
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  [[nodiscard]] std::int64_t packed_end(std::size_t number) const noexcept {
    return number + 1 < entries_.size() ? entries_[number + 1].packed : elements_;
  }

  std::vector<Entry> entries_;
  std::int64_t elements_ = 0;
};

}  // namespace iocomp::array
