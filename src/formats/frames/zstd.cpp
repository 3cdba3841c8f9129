// SPDX-License-Identifier: BSD-3-Clause
#include "formats/frames/zstd.h"

#include <zstd.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace iocomp::formats::frames {
namespace {

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

[[noreturn]] void refuse(const std::string& action, std::size_t result) {
  throw Error{ErrorCode::storage_failure,
              "cannot " + action + ": Zstandard: " + ZSTD_getErrorName(result)};
}

}  // namespace

bool has_zstd() noexcept { return true; }

std::vector<std::byte> compressed(std::span<const std::byte> bytes, int level) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
  if (!context) {
    throw Error{ErrorCode::out_of_staging_memory, "no memory for Zstandard"};
  }
  ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
  const std::size_t result =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(result) != 0U) {
    refuse("compress a part of a variable", result);
  }
  frame.resize(result);
  frame.shrink_to_fit();
  return frame;
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
