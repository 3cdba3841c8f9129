#include "formats/hdf5/chunk_filter.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::formats::h5 {
namespace {

// Elements whose bytes fit into the nearest cache while they are spread.
constexpr std::size_t elements_at_once = 1024;

void shuffle(std::span<const std::byte> chunk, std::size_t element_bytes, std::byte* to) {
  const std::size_t elements = chunk.size() / element_bytes;
  for (std::size_t first = 0; first < elements; first += elements_at_once) {
    const std::size_t last = std::min(first + elements_at_once, elements);
    for (std::size_t byte = 0; byte < element_bytes; ++byte) {
      const std::byte* from = chunk.data() + byte;
      std::byte* plane = to + byte * elements;
      for (std::size_t i = first; i < last; ++i) {
        plane[i] = from[i * element_bytes];
      }
    }
  }
}

}  // namespace

void ChunkFilter::append(std::span<const std::byte> chunk, std::size_t element_bytes,
                         std::vector<std::byte>& to) {
  if (shuffle_ && element_bytes > 1) {
    shuffled_.resize(chunk.size());
    shuffle(chunk, element_bytes, shuffled_.data());
    chunk = shuffled_;
  }
  const std::size_t before = to.size();
  uLongf bytes = compressBound(chunk.size());
  to.resize(before + bytes);
  const int result = compress2(reinterpret_cast<Bytef*>(to.data() + before), &bytes,
                               reinterpret_cast<const Bytef*>(chunk.data()), chunk.size(), level_);
  to.resize(before + (result == Z_OK ? bytes : 0));
  if (result != Z_OK) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot compress a chunk: zlib: "} + zError(result)};
  }
}

}  // namespace iocomp::formats::h5
