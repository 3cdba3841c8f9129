// SPDX-License-Identifier: BSD-3-Clause
#include "formats/hdf5/zstd_filter.h"

#include <dlfcn.h>
#include <hdf5.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "base/error.h"
#include "compress/bench.h"
#include "compress/zstd.h"

namespace iocomp::formats::h5 {
namespace {

constexpr unsigned usual_level = 3;

std::size_t replace(std::span<const std::byte> made, std::size_t* capacity, void** buffer) {
  void* const memory = made.empty() ? nullptr : std::malloc(made.size());
  if (memory == nullptr) {
    return 0;
  }
  std::memcpy(memory, made.data(), made.size());
  std::free(std::exchange(*buffer, memory));
  *capacity = made.size();
  return made.size();
}

// HDF5's ways: 0 tells a failure; the buffer is from malloc, and is replaced.
std::size_t filter_zstd(unsigned flags, std::size_t values, const unsigned* value,
                        std::size_t bytes, std::size_t* capacity, void** buffer) {
  const std::span from{static_cast<const std::byte*>(*buffer), bytes};
  try {
    compress::Bench bench;
    std::span<const std::byte> made;
    if ((flags & H5Z_FLAG_REVERSE) == 0U) {
      const int level = static_cast<int>(values > 0 ? value[0] : usual_level);
      made = compress::pack_zstd(from, level, false, bench);
    } else if (const auto whole = compress::unpacked_bytes(from)) {
      const auto room = bench.packed.room(*whole);
      compress::unpack_zstd(from, room);
      made = room;
    }
    return replace(made, capacity, buffer);
  } catch (const std::exception&) {
    return 0;
  }
}

void make_known_by(decltype(&H5Zregister) take) {
  if (!compress::has_zstd()) {
    return;
  }
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

}  // namespace

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

}  // namespace iocomp::formats::h5
