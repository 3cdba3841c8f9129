// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/zstd_filter.h"

#include <dlfcn.h>
#include <hdf5.h>
#include <zstd.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/scratch_memory.h"
#include "formats/hdf5/error.h"

namespace iocomp::formats::h5 {
namespace {

constexpr unsigned usual_level = 3;

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// HDF5's ways: 0 tells a failure; the buffer is from malloc, and is replaced.
std::size_t replace(Memory made, std::size_t room, std::size_t bytes, std::size_t* capacity,
                    void** buffer) {
  if (made == nullptr || ZSTD_isError(bytes) != 0U) {
    return 0;
  }
  std::free(*buffer);
  *buffer = made.release();
  *capacity = room;
  return bytes;
}

std::size_t filter_zstd(unsigned flags, std::size_t values, const unsigned* value,
                        std::size_t bytes, std::size_t* capacity, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) != 0U) {
    const unsigned long long size = ZSTD_getFrameContentSize(*buffer, bytes);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
      return 0;
    }
    Memory whole{std::malloc(size)};
    const std::size_t got =
        whole == nullptr ? 0 : ZSTD_decompress(whole.get(), size, *buffer, bytes);
    return replace(std::move(whole), size, got, capacity, buffer);
  }
  const std::size_t room = ZSTD_compressBound(bytes);
  Memory packed{std::malloc(room)};
  const int level = static_cast<int>(values > 0 ? value[0] : usual_level);
  const std::size_t got =
      packed == nullptr ? 0 : ZSTD_compress(packed.get(), room, *buffer, bytes, level);
  return replace(std::move(packed), room, got, capacity, buffer);
}

void make_known_by(decltype(&H5Zregister) take) {
  static const H5Z_class2_t filter{.version = H5Z_CLASS_T_VERS,
                                   .id = zstd_filter,
                                   .encoder_present = 1,
                                   .decoder_present = 1,
                                   .name = "zstd",
                                   .can_apply = nullptr,
                                   .set_local = nullptr,
                                   .filter = filter_zstd};
  if (take(&filter) < 0) {
    throw Error{ErrorCode::storage_failure, "HDF5 does not take Zstandard as a filter"};
  }
}

ZSTD_CCtx* context_of(void* kept) { return static_cast<ZSTD_CCtx*>(kept); }

}  // namespace

bool has_zstd() noexcept { return true; }

void make_zstd_known() { make_known_by(&H5Zregister); }

void make_zstd_known_to(const void* function) {
  Dl_info place{};
  if (::dladdr(function, &place) == 0) {
    return;
  }
  void* const library = ::dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return;
  }
  // Looks in what the library was linked with, too.
  if (const auto take = reinterpret_cast<decltype(&H5Zregister)>(::dlsym(library, "H5Zregister"))) {
    make_known_by(take);
  }
  ::dlclose(library);
}

std::span<const std::byte> pack_zstd(std::span<const std::byte> bytes, int level,
                                     ScratchMemory& room, std::shared_ptr<void>& tables) {
  if (tables == nullptr) {
    tables = {ZSTD_createCCtx(), [](void* context) { ZSTD_freeCCtx(context_of(context)); }};
  }
  if (tables == nullptr) {
    throw std::bad_alloc{};
  }
  const auto to = room.room(ZSTD_compressBound(bytes.size()));
  const std::size_t result = ZSTD_compressCCtx(context_of(tables.get()), to.data(), to.size(),
                                               bytes.data(), bytes.size(), level);
  if (ZSTD_isError(result) != 0U) {
    throw Error{ErrorCode::storage_failure,
                std::string{"cannot compress a chunk: Zstandard: "} + ZSTD_getErrorName(result)};
  }
  return to.first(result);
}

}  // namespace iocomp::formats::h5
