#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace iocomp::formats::h5 {

/// What HDF5's own filters would make of a chunk: shuffle (all first bytes of elements, then all
/// second ones), then deflate as a zlib stream.
class ChunkFilter {
 public:
  ChunkFilter(int deflate_level, bool shuffle) : level_{deflate_level}, shuffle_{shuffle} {}

  /// Append the filtered chunk.
  /// @throws Error{storage_failure} with zlib's cause; std::bad_alloc.
  void append(std::span<const std::byte> chunk, std::size_t element_bytes,
              std::vector<std::byte>& to);

 private:
  int level_;
  bool shuffle_;
  std::vector<std::byte> shuffled_;
};

}  // namespace iocomp::formats::h5
