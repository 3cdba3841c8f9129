// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "compress/bench.h"
#include "formats/format.h"

namespace iocomp::formats::h5 {

/// The number of a method among HDF5's filters. @pre compression.is_on()
[[nodiscard]] int filter_of(const Compression& compression) noexcept;
/// True if some variable may be compressed so.
[[nodiscard]] bool uses(const FormatOptions& options, Compression::Method method);
/// @throws Error{invalid_setting} for a method that this build does not have, and a filter that
/// HDF5 does not find.
void check_methods(const FormatOptions& options);

/// Makes of a chunk what HDF5's filters would: shuffle (all first bytes of elements, then all
/// second ones), then deflate as a zlib stream, or a frame of Zstandard.
class ChunkFilter {
 public:
  /// The filtered chunk, until the next call.
  /// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
  [[nodiscard]] std::span<const std::byte> filter(std::span<const std::byte> chunk,
                                                  std::size_t element_bytes,
                                                  const Compression& compression);

 private:
  compress::Bench bench_;
};

}  // namespace iocomp::formats::h5
