// SPDX-License-Identifier: BSD-3-Clause
#include "device/loaded_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace iocomp::device {
namespace {

struct Wanted {
  std::string_view name;
  std::string path{};
};

int note_loads(dl_phdr_info* one, std::size_t /*bytes*/, void* to) {
  *static_cast<unsigned long long*>(to) = one->dlpi_adds;
  return 1;
}

int note_path(dl_phdr_info* one, std::size_t /*bytes*/, void* to) {
  auto& wanted = *static_cast<Wanted*>(to);
  const std::string_view path = one->dlpi_name == nullptr ? "" : one->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with(wanted.name)) {
    return 0;
  }
  wanted.path = path;
  return 1;
}

}  // namespace

unsigned long long loads() noexcept {
  unsigned long long count = 0;
  ::dl_iterate_phdr(&note_loads, &count);
  return count;
}

// Looks among the loaded libraries only: dlopen would look for files.
std::string loaded_path(std::string_view name) {
  Wanted wanted{name};
  ::dl_iterate_phdr(&note_path, &wanted);
  return wanted.path;
}

LoadedLibrary::LoadedLibrary(std::string path)
    : path_{std::move(path)}, handle_{::dlopen(path_.c_str(), RTLD_LAZY | RTLD_NOLOAD)} {
  if (handle_ == nullptr) {
    throw Error{ErrorCode::unsupported, "the driver of the GPU, " + path_ + ", is not loaded"};
  }
}

void* LoadedLibrary::symbol(const char* name) const noexcept { return ::dlsym(handle_, name); }

void LoadedLibrary::lacks(const char* name) const {
  throw Error{ErrorCode::unsupported, "the values are in the memory of a GPU, whose driver " +
                                          path_ + " has no function " + name +
                                          ": it is too old for iocomp"};
}

}  // namespace iocomp::device
