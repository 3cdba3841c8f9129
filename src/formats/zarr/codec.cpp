// SPDX-License-Identifier: BSD-3-Clause
#include "formats/zarr/codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/little_endian.h"
#include "compress/bench.h"
#include "compress/deflate.h"
#include "compress/zstd.h"
#include "formats/format.h"
#include "formats/zarr/array.h"
#include "formats/zarr/blosc.h"
#include "formats/zarr/crc32c.h"

namespace iocomp::formats::zarr {
namespace {

constexpr std::size_t checksum_bytes = 4;
// A frame holds at most so many bytes for each that it has, and some more.
constexpr std::int64_t most_for_each_of_zstd = 40000;
constexpr std::int64_t most_for_each_of_gzip = 1100;
constexpr std::int64_t some_more = std::int64_t{1} << 20;

std::span<const std::byte> without_checksum(std::span<const std::byte> stored) {
  if (stored.size() < checksum_bytes) {
    throw Error{ErrorCode::storage_failure, "a chunk is shorter than its checksum"};
  }
  const auto rest = stored.first(stored.size() - checksum_bytes);
  if (number_at(stored, rest.size(), int{checksum_bytes}) != crc32c(rest)) {
    throw Error{ErrorCode::storage_failure, "the checksum of a chunk does not fit"};
  }
  return rest;
}

}  // namespace

void check_methods(const FormatOptions& options) {
  const auto check = [](const Compression& compression) {
    const bool is_gzip = compression.method == Compression::Method::deflate;
    if (compression.is_on() && !(is_gzip ? compress::has_deflate() : compress::has_zstd())) {
      throw Error{ErrorCode::invalid_setting,
                  std::string{"compression = "} + (is_gzip ? "\"deflate\"" : "\"zstd\"") +
                      " of back-end zarr: this iocomp was built without " +
                      (is_gzip ? "zlib" : "libzstd")};
    }
  };
  check(options.compression);
  for (const auto& storage : options.storages) {
    check(storage.compression);
  }
}

void ChunkEncoder::encode(std::span<const std::byte> chunk, std::size_t element_bytes,
                          const Compression& compression, std::vector<std::byte>& to) {
  auto bench = benches_.take();
  if (compression.method == Compression::Method::deflate) {
    const auto packed =
        compress::pack_deflate(chunk, compression.level, compress::Wrapping::gzip, *bench);
    to.assign(packed.begin(), packed.end());
  } else if (compression.shuffle) {
    blosc(chunk, element_bytes, compression, *bench, to);
  } else {
    const auto frame = compress::pack_zstd(chunk, compression.level, true, *bench);
    to.assign(frame.begin(), frame.end());
  }
  benches_.give_back(std::move(bench));
}

std::vector<std::byte> decoded(const Array& array, std::span<const std::byte> stored) {
  if (array.has_checksums) {
    stored = without_checksum(stored);
  }
  const std::int64_t bytes = array.chunk_bytes();
  if (!array.compression.is_on()) {
    if (std::ssize(stored) != bytes) {
      throw Error{ErrorCode::storage_failure, "a chunk has " + std::to_string(stored.size()) +
                                                  " bytes where " + std::to_string(bytes) +
                                                  " are expected"};
    }
    return {stored.begin(), stored.end()};
  }
  const bool is_gzip = array.compression.method == Compression::Method::deflate;
  const std::int64_t most_for_each = is_gzip ? most_for_each_of_gzip : most_for_each_of_zstd;
  if (bytes > some_more && (bytes - some_more) / most_for_each > std::ssize(stored)) {
    throw Error{ErrorCode::storage_failure,
                "a chunk has less bytes than could hold " + std::to_string(bytes)};
  }
  std::vector<std::byte> chunk(static_cast<std::size_t>(bytes));
  if (is_gzip) {
    compress::unpack_gzip(stored, chunk);
  } else if (array.compression.shuffle) {
    unblosc(stored, chunk);
  } else {
    compress::unpack_zstd(stored, chunk);
  }
  return chunk;
}

}  // namespace iocomp::formats::zarr
