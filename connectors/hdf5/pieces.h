// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "disk/engine.h"
#include "hdf5/layout.h"
#include "hdf5/selection_runs.h"
#include "hdf5/values.h"

namespace iocomp::hdf5 {

/// A part of a write, small enough to be copied at once: where its bytes go in the file, and where
/// they lie in the copy. There they are in the order of the file, so that neighbours become one
/// write, and long runs are aligned as in the file.
class Pieces {
 public:
  enum class Found {
    some,     ///< there may be more
    none,     ///< the selection has ended
    no_place  ///< a part has no place in the file, or two parts have the same
  };
  /// The next of a selection, with `most_bytes` at most.
  [[nodiscard]] Found find(SelectionRuns& selection, Layout& layout, std::uint64_t most_bytes);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// The number of writes that they make.
  [[nodiscard]] std::size_t run_count() const noexcept { return runs_.size(); }
  /// False where copying is cheaper than to write each piece by itself.
  [[nodiscard]] bool are_long() const noexcept;
  /// The length of the copy.
  [[nodiscard]] std::size_t copy_bytes() const noexcept { return copy_bytes_; }
  /// Fill it with the next bytes of the values.
  void fill(std::span<std::byte> copy, Values& values) const;
  /// The writes, in the order of the file.
  [[nodiscard]] std::vector<disk::Write> writes(std::span<const std::byte> copy) const;
  /// The same without a copy. @pre values.lie_together(), as many as are left.
  [[nodiscard]] std::vector<disk::Write> writes_in_place(Values& values) const;

 private:
  struct Piece {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::size_t in_copy = 0;
  };
  struct Run {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::size_t in_copy = 0;
  };
  void add(const ByteRun& placed);
  [[nodiscard]] bool arrange();

  std::vector<Piece> pieces_;  // in the order of the selection
  std::vector<Run> runs_;      // in the order of the file
  std::uint64_t bytes_ = 0;
  std::size_t copy_bytes_ = 0;
};

}  // namespace iocomp::hdf5
