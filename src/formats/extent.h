// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace iocomp::formats {

/// Bytes of a file.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t filter_mask = 0;  ///< of a chunk in hdf5: the filters that were left out
};

}  // namespace iocomp::formats
