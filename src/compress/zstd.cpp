// SPDX-License-Identifier: BSD-3-Clause
#include "compress/zstd.h"

#include <zstd.h>

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "compress/bench.h"

namespace iocomp::compress {
namespace {

ZSTD_CCtx* context_of(void* kept) { return static_cast<ZSTD_CCtx*>(kept); }

[[noreturn]] void refuse(const std::string& action, std::size_t result) {
  throw Error{ErrorCode::storage_failure,
              "cannot " + action + ": Zstandard: " + ZSTD_getErrorName(result)};
}

}  // namespace

bool has_zstd() noexcept { return true; }

std::span<const std::byte> pack_zstd(std::span<const std::byte> bytes, int level, bool has_checksum,
                                     Bench& bench) {
  if (bench.tables == nullptr) {
    bench.tables = {ZSTD_createCCtx(), [](void* context) { ZSTD_freeCCtx(context_of(context)); }};
  }
  ZSTD_CCtx* const context = context_of(bench.tables.get());
  if (context == nullptr) {
    throw std::bad_alloc{};
  }
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, has_checksum ? 1 : 0);
  const auto room = bench.packed.room(ZSTD_compressBound(bytes.size()));
  const std::size_t result =
      ZSTD_compress2(context, room.data(), room.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(result) != 0U) {
    refuse("compress a part of a variable", result);
  }
  return room.first(result);
}

std::optional<std::size_t> unpacked_bytes(std::span<const std::byte> frame) noexcept {
  const unsigned long long bytes = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
    return std::nullopt;
  }
  return bytes;
}

void unpack_zstd(std::span<const std::byte> frame, std::span<std::byte> to) {
  const std::size_t result = ZSTD_decompress(to.data(), to.size(), frame.data(), frame.size());
  if (ZSTD_isError(result) != 0U) {
    refuse("read a frame", result);
  }
  if (result != to.size()) {
    throw Error{ErrorCode::storage_failure, "a frame has " + std::to_string(result) +
                                                " bytes where " + std::to_string(to.size()) +
                                                " are expected"};
  }
}

}  // namespace iocomp::compress
