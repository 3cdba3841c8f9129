// SPDX-License-Identifier: BSD-3-Clause
#include "formats/frames/zstd.h"

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/error.h"
#include "formats/format.h"
#include "formats/shuffle.h"

namespace iocomp::formats::frames {
namespace {

ZSTD_CCtx* context_of(void* kept) { return static_cast<ZSTD_CCtx*>(kept); }

[[noreturn]] void refuse(const std::string& action, std::size_t result) {
  throw Error{ErrorCode::storage_failure,
              "cannot " + action + ": Zstandard: " + ZSTD_getErrorName(result)};
}

}  // namespace

bool has_zstd() noexcept { return true; }

std::span<const std::byte> frame_of(std::span<const std::byte> bytes, std::size_t element_bytes,
                                    const Compression& compression, FrameBench& bench) {
  if (bench.tables == nullptr) {
    bench.tables = {ZSTD_createCCtx(), [](void* context) { ZSTD_freeCCtx(context_of(context)); }};
  }
  ZSTD_CCtx* const context = context_of(bench.tables.get());
  if (context == nullptr) {
    throw std::bad_alloc{};
  }
  if (compression.shuffle && element_bytes > 1) {
    const auto shuffled = bench.shuffled.room(bytes.size());
    shuffle(bytes, element_bytes, shuffled.data());
    bytes = shuffled;
  }
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, compression.level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const auto room = bench.frame.room(ZSTD_compressBound(bytes.size()));
  const std::size_t result =
      ZSTD_compress2(context, room.data(), room.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(result) != 0U) {
    refuse("compress a part of a variable", result);
  }
  return room.first(result);
}

void decompress(std::span<const std::byte> frame, std::span<std::byte> to) {
  const std::size_t result = ZSTD_decompress(to.data(), to.size(), frame.data(), frame.size());
  if (ZSTD_isError(result) != 0U) {
    refuse("read a frame", result);
  }
  if (result != to.size()) {
    throw Error{ErrorCode::storage_failure, "a frame has " + std::to_string(result) +
                                                " bytes, its index says " +
                                                std::to_string(to.size())};
  }
}

}  // namespace iocomp::formats::frames
