// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compress/bench.h"

namespace iocomp::hdf5 {

/// The filters of a dataset, as HDF5 applies them to each chunk, without HDF5: shuffle, deflate,
/// Fletcher's checksum, Zstandard.
class Filters {
 public:
  /// The filters of a creation list. Nothing where there are none, or one that is not known here or
  /// that HDF5 does not have.
  [[nodiscard]] static std::optional<Filters> of(hid_t creation_list);

  /// Apply them to a chunk. Thread-safe; a bench is for one thread.
  /// @param to  the filtered chunk.
  /// @throws Error{storage_failure} with the cause; std::bad_alloc.
  void apply(std::span<const std::byte> chunk, compress::Bench& bench,
             std::vector<std::byte>& to) const;

 private:
  struct Filter {
    H5Z_filter_t number;
    unsigned value;  ///< the bytes of an element for shuffle, else the level
  };
  std::vector<Filter> filters_;  // each kind once, so that none reads what it overwrites
};

}  // namespace iocomp::hdf5
