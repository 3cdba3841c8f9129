// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/spares.h"
#include "compress/bench.h"
#include "formats/format.h"
#include "formats/zarr/array.h"

namespace iocomp::formats::zarr {

/// @throws Error{invalid_setting} for compression that there is not.
void check_methods(const FormatOptions& options);

/// Makes the bytes of a compressed chunk in the file. Thread-safe.
class ChunkEncoder {
 public:
  /// @throws Error{storage_failure} with the library's cause; std::bad_alloc.
  void encode(std::span<const std::byte> chunk, std::size_t element_bytes,
              const Compression& compression, std::vector<std::byte>& to);

 private:
  Spares<compress::Bench> benches_;
};

/// The elements of a chunk of an array. @param stored what lies in the file of it.
/// @throws Error{storage_failure} if it is damaged; Error{unsupported} for an unknown codec.
[[nodiscard]] std::vector<std::byte> decoded(const Array& array, std::span<const std::byte> stored);

}  // namespace iocomp::formats::zarr
