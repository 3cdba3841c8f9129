// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_filter.h"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/format.h"
#include "formats/hdf5/zstd_filter.h"

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

void append_deflated(std::span<const std::byte> chunk, int level, std::vector<std::byte>& to) {
  const std::size_t before = to.size();
  uLongf bytes = compressBound(chunk.size());
  to.resize(before + bytes);
  const int result = compress2(reinterpret_cast<Bytef*>(to.data() + before), &bytes,
                               reinterpret_cast<const Bytef*>(chunk.data()), chunk.size(), level);
  to.resize(before + (result == Z_OK ? bytes : 0));
  if (result != Z_OK) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot compress a chunk: zlib: "} + zError(result)};
  }
}

}  // namespace

int filter_of(const Compression& compression) noexcept {
  return compression.method == Compression::Method::zstd ? zstd_filter : H5Z_FILTER_DEFLATE;
}

void check_method(const Compression& compression) {
  if (compression.method == Compression::Method::zstd && !has_zstd()) {
    throw Error{ErrorCode::invalid_setting,
                "compression = \"zstd\": this iocomp was built without libzstd; it has deflate"};
  }
}

void ChunkFilter::append(std::span<const std::byte> chunk, std::size_t element_bytes,
                         std::vector<std::byte>& to) {
  if (compression_.shuffle && element_bytes > 1) {
    shuffled_.resize(chunk.size());
    shuffle(chunk, element_bytes, shuffled_.data());
    chunk = shuffled_;
  }
  if (compression_.method == Compression::Method::zstd) {
    append_zstd(chunk, compression_.level, to);
  } else {
    append_deflated(chunk, compression_.level, to);
  }
}

}  // namespace iocomp::formats::h5
