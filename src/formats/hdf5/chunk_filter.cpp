// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_filter.h"

#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "base/error.h"
#include "base/scratch_memory.h"
#include "formats/format.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/shuffle.h"

namespace iocomp::formats::h5 {
namespace {

std::span<const std::byte> deflated(std::span<const std::byte> chunk, int level,
                                    ScratchMemory& room) {
  uLongf bytes = compressBound(chunk.size());
  const auto to = room.room(bytes);
  const int result = compress2(reinterpret_cast<Bytef*>(to.data()), &bytes,
                               reinterpret_cast<const Bytef*>(chunk.data()), chunk.size(), level);
  if (result != Z_OK) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot compress a chunk: zlib: "} + zError(result)};
  }
  return to.first(bytes);
}

}  // namespace

int filter_of(const Compression& compression) noexcept {
  switch (compression.method) {
    case Compression::Method::zstd:
      return zstd_filter;
    case Compression::Method::filter:
      return compression.filter;
    default:
      return H5Z_FILTER_DEFLATE;
  }
}

bool uses(const FormatOptions& options, Compression::Method method) {
  return options.compression.method == method ||
         std::ranges::any_of(options.storages, [method](const Storage& storage) {
           return storage.compression.method == method;
         });
}

void check_methods(const FormatOptions& options) {
  if (uses(options, Compression::Method::zstd) && !has_zstd()) {
    throw Error{ErrorCode::invalid_setting,
                "compression = \"zstd\": this iocomp was built without libzstd; it has deflate"};
  }
  check_library_filters(options);
}

std::span<const std::byte> ChunkFilter::filter(std::span<const std::byte> chunk,
                                               std::size_t element_bytes,
                                               const Compression& compression) {
  if (compression.shuffle && element_bytes > 1) {
    const auto shuffled = shuffled_.room(chunk.size());
    shuffle(chunk, element_bytes, shuffled.data());
    chunk = shuffled;
  }
  return compression.method == Compression::Method::zstd
             ? pack_zstd(chunk, compression.level, filtered_, tables_)
             : deflated(chunk, compression.level, filtered_);
}

}  // namespace iocomp::formats::h5
