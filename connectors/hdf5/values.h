// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hdf5/selection_runs.h"

namespace iocomp::hdf5 {

/// HDF5's own conversion of numbers. The identifiers outlive this.
struct Conversion {
  hid_t from;
  hid_t to;
  hid_t transfer_list;  ///< may have a callback for what does not fit

  /// True where both types are numbers, so that a value can be converted by itself.
  [[nodiscard]] static bool is_possible(hid_t from, hid_t to);
};

/// The values of one call in the order of its selection, as they shall be in the file.
class Values {
 public:
  /// @param selection  of `memory`. @param conversion  nothing where memory has the file's type.
  Values(SelectionRuns selection, const void* memory, std::optional<Conversion> conversion);

  /// The next bytes: as many as lie together, `most` at most.
  /// @throws Error{invalid_argument} where HDF5 cannot convert them.
  [[nodiscard]] std::span<const std::byte> next(std::uint64_t most);
  /// Copy the next bytes, as many as there is room for.
  /// @throws Error{invalid_argument} where HDF5 cannot convert them; Error{internal}.
  void copy_to(std::span<std::byte> room);
  /// True if so many bytes lie together in the program's memory: none has to be copied.
  [[nodiscard]] bool lie_together(std::uint64_t bytes);

 private:
  void find_more();
  void convert_more();

  SelectionRuns selection_;
  const std::byte* memory_;
  std::optional<Conversion> conversion_;
  std::vector<std::byte> converted_;
  std::span<const std::byte> left_;  // found, and not yet given
};

}  // namespace iocomp::hdf5
