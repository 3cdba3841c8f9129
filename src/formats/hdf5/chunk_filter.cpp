// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/chunk_filter.h"

#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/error.h"
#include "compress/deflate.h"
#include "compress/shuffle.h"
#include "compress/zstd.h"
#include "formats/format.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/zstd_filter.h"

namespace iocomp::formats::h5 {
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
  if (uses(options, Compression::Method::zstd) && !compress::has_zstd()) {
    throw Error{ErrorCode::invalid_setting,
                "compression = \"zstd\": this iocomp was built without libzstd; it has deflate"};
  }
  check_library_filters(options);
}

std::span<const std::byte> ChunkFilter::filter(std::span<const std::byte> chunk,
                                               std::size_t element_bytes,
                                               const Compression& compression) {
  if (compression.shuffle) {
    chunk = compress::shuffled(chunk, element_bytes, bench_);
  }
  return compression.method == Compression::Method::zstd
             ? compress::pack_zstd(chunk, compression.level, false, bench_)
             : compress::pack_deflate(chunk, compression.level, compress::Wrapping::zlib, bench_);
}

}  // namespace iocomp::formats::h5
