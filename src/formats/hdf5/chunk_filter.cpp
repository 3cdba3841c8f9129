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
#include "formats/shuffle.h"

namespace iocomp::formats::h5 {
namespace {

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

void check_methods(const FormatOptions& options) {
  constexpr auto zstd = Compression::Method::zstd;
  const bool is_wanted = options.compression.method == zstd ||
                         std::ranges::any_of(options.storages, [](const Storage& other) {
                           return other.compression.method == zstd;
                         });
  if (is_wanted && !has_zstd()) {
    throw Error{ErrorCode::invalid_setting,
                "compression = \"zstd\": this iocomp was built without libzstd; it has deflate"};
  }
}

void ChunkFilter::append(std::span<const std::byte> chunk, std::size_t element_bytes,
                         const Compression& compression, std::vector<std::byte>& to) {
  if (compression.shuffle && element_bytes > 1) {
    shuffled_.resize(chunk.size());
    shuffle(chunk, element_bytes, shuffled_.data());
    chunk = shuffled_;
  }
  if (compression.method == Compression::Method::zstd) {
    append_zstd(chunk, compression.level, to);
  } else {
    append_deflated(chunk, compression.level, to);
  }
}

}  // namespace iocomp::formats::h5
