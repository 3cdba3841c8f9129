// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <span>

#include "base/spares.h"
#include "formats/format.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/library_filter.h"
#include "formats/packed_writer.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// Filters the chunks of all variables of a file. Those of HDF5 itself are for the thread that has
/// it; the others, which are this library's own, for any number of threads.
class RecordFilters {
 public:
  /// `options` outlive this.
  explicit RecordFilters(const FormatOptions& options) : options_{options} {}

  /// @throws Error{storage_failure}.
  void filter(const Variable& variable, std::span<const std::byte> whole, Packed& to);

 private:
  const FormatOptions& options_;
  Spares<ChunkFilter> spares_;
  std::map<int, LibraryFilter> of_library_;  // by id of the variable
};

}  // namespace iocomp::formats::h5
