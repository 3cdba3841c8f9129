// SPDX-License-Identifier: BSD-3-Clause
#include "formats/load_flags.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/left_out.h"

namespace iocomp::formats {
namespace {

struct Place {
  const void* library = nullptr;  ///< where it is loaded
  std::string path;
  bool is_defined = false;  ///< else a stub, through which an executable calls another library
};

Place place_of(void* symbol) {
  Dl_info found{};
  const ElfW(Sym)* entry = nullptr;
  if (symbol == nullptr ||
      ::dladdr1(symbol, &found, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&entry)),
                RTLD_DL_SYMENT) == 0) {
    return {};
  }
  return {found.dli_fbase, found.dli_fname == nullptr ? "" : found.dli_fname,
          entry != nullptr && entry->st_shndx != SHN_UNDEF};
}

// Looks for a symbol in a library that is loaded, or in those that it needs.
Place find_in(const char* library, const char* symbol) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return {};
  }
  Place place = place_of(::dlsym(handle, symbol));
  ::dlclose(handle);
  return place;
}

// The one that is called wherever somebody says malloc: of the library that was loaded first of
// those that define it.
Place find_malloc() {
  Place place = place_of(::dlsym(RTLD_DEFAULT, "malloc"));
  void* program = ::dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  const link_map* loaded = nullptr;
  if (place.is_defined || program == nullptr ||
      ::dlinfo(program, RTLD_DI_LINKMAP, static_cast<void*>(&loaded)) != 0) {
    return place;
  }
  for (const link_map* one = loaded->l_next; one != nullptr; one = one->l_next) {
    const std::string_view path = one->l_name == nullptr ? "" : one->l_name;
    place = find_in(one->l_name, "malloc");
    if (!path.empty() && place.is_defined && place.path == path) {
      break;
    }
  }
  ::dlclose(program);
  return place;
}

}  // namespace

int load_flags() {
  constexpr int usual = RTLD_NOW | RTLD_LOCAL;
  const Place visible = place_of(::dlsym(RTLD_DEFAULT, "H5open"));
  if (visible.library == nullptr || visible.library == find_in(hdf5_soname, "H5open").library) {
    return usual;
  }
  const Place allocator = find_malloc();
  if (allocator.library != place_of(reinterpret_cast<void*>(&::gnu_get_libc_version)).library) {
    throw Error{ErrorCode::unsupported,
                "cannot load a back-end beside the HDF5 of the program, " + visible.path +
                    ", as its malloc comes from " + allocator.path +
                    ": leave one of them out, or build iocomp with that HDF5"};
  }
  return usual | RTLD_DEEPBIND;
}

}  // namespace iocomp::formats
