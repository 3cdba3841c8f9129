// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "hdf5/identifier.h"

namespace iocomp::hdf5 {

/// Bytes that follow one another.
struct ByteRun {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The bytes that are selected in an array, run by run, in the order of the selection's elements.
class SelectionRuns {
 public:
  /// @param space  its extent is that of the array; it outlives this.
  SelectionRuns(hid_t space, std::size_t element_bytes);
  /// An array that is selected as a whole.
  explicit SelectionRuns(std::uint64_t bytes) noexcept : run_{.offset = 0, .bytes = bytes} {}

  /// The next bytes, `most` at most; none at the end.
  /// @throws Error{internal} where HDF5 does not tell.
  [[nodiscard]] ByteRun next(std::uint64_t most);

 private:
  [[nodiscard]] bool find_more();

  static constexpr std::size_t runs_at_once = 512;
  Identifier<H5Ssel_iter_close> iterator_;
  std::array<hsize_t, runs_at_once> offsets_{};
  std::array<std::size_t, runs_at_once> lengths_{};
  std::size_t found_ = 0;
  std::size_t given_ = 0;
  ByteRun run_;  // what is left of the run that was begun
};

}  // namespace iocomp::hdf5
