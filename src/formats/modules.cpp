// SPDX-License-Identifier: BSD-3-Clause
#include "formats/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/small_files.h"
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

// Flags of dlopen for a module. Where another HDF5 than the modules' is visible to everything in
// the process, a module looks for functions in the libraries that it was linked with first
// (RTLD_DEEPBIND): HDF5's names have no versions, so it would get those of the other one.
// @throws Error{unsupported} naming both libraries, where a malloc of the program's own (jemalloc,
// a sanitizer) forbids that: memory from one malloc would be freed by another.
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

constexpr std::string_view module_ending = ".so";

// The folder of the library (or program) that this code was linked into; empty when the system
// cannot say.
std::string own_folder() {
  static const char here = 0;
  Dl_info found{};
  if (::dladdr(&here, &found) == 0 || found.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  const auto path = std::filesystem::canonical(found.dli_fname, error);
  return error ? std::string{} : path.parent_path().string();
}

std::vector<std::string> folders_to_search(const std::string& first) {
  std::vector<std::string> folders;
  const auto add = [&folders](const std::string& folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) {
      folders.push_back(folder);
    }
  };
  if (!first.empty()) {
    add(first);
  }
  const std::string own = own_folder();
  if (!own.empty()) {
    add(own + "/iocomp");
  }
  // Only a library of a build tree searches that tree. It must find its own modules before those of
  // an older installation. An installed library must not load from a folder that anybody may have
  // filled since.
  if (own.starts_with(IOCOMP_BUILD_FOLDER "/")) {
    add(IOCOMP_MODULES_BUILT);
  }
  add(IOCOMP_MODULES_INSTALLED);
  return folders;
}

std::string joined(const std::vector<std::string>& folders) {
  std::string text;
  for (const auto& folder : folders) {
    text += (text.empty() ? "" : ", ") + folder;
  }
  return text;
}

std::string module_name(const ModuleKind& kind, std::string_view format) {
  return std::string{kind.prefix} + std::string{format} + std::string{module_ending};
}

std::set<std::string> names_in(const ModuleKind& kind, const std::vector<std::string>& folders) {
  std::set<std::string> names;
  for (const auto& folder : folders) {
    std::vector<std::string> files;
    (void)outcome_of([&] { files = iocomp::names_in(folder); });
    for (const auto& file : files) {
      if (file.starts_with(kind.prefix) && file.ends_with(module_ending)) {
        names.insert(file.substr(kind.prefix.size(),
                                 file.size() - kind.prefix.size() - module_ending.size()));
      }
    }
  }
  return names;
}

// A module that is there must load: a broken one is told, not passed over for another.
const void* load(const ModuleKind& kind, const std::string& path) {
  // Never closed: HDF5 and MPI register handlers at exit, and a format is needed until then anyway.
  void* module = ::dlopen(path.c_str(), load_flags());
  if (module == nullptr) {
    throw Error{ErrorCode::unsupported,
                "cannot load " + std::string{kind.what} + ": " + ::dlerror()};
  }
  const void* entry = ::dlsym(module, kind.symbol);
  const int version = entry == nullptr ? 0 : *static_cast<const int*>(entry);
  if (entry == nullptr || version != kind.interface_version) {
    throw Error{
        ErrorCode::unsupported,
        path + (entry == nullptr
                    ? " is no module of iocomp: it has no symbol " + std::string{kind.symbol}
                    : " is a module for another iocomp: it has interface version " +
                          std::to_string(version) + ", this one needs " +
                          std::to_string(kind.interface_version))};
  }
  return entry;
}

// The reason why this build has no such back-end.
std::string why_left_out(std::string_view name) {
  const std::string lines = '\n' + std::string{left_out};
  const std::string begin = '\n' + std::string{name} + ": ";
  const auto found = lines.find(begin);
  if (found == std::string::npos) {
    return {};
  }
  const auto reason = found + begin.size();
  return "; left out of this build: " + lines.substr(reason, lines.find('\n', reason) - reason);
}

Error not_found(const ModuleKind& kind, std::string_view format,
                const std::vector<std::string>& folders) {
  std::string found;
  for (const auto& other : names_in(kind, folders)) {
    found += (found.empty() ? "" : ", ") + other;
  }
  return Error{ErrorCode::unsupported,
               std::string{kind.what} + " \"" + std::string{format} + "\" is not installed: no " +
                   module_name(kind, format) + " in " + joined(folders) +
                   "; found there: " + (found.empty() ? "none" : found) + why_left_out(format)};
}

const void* find(const ModuleKind& kind, std::string_view format, const std::string& first) {
  const auto folders = folders_to_search(first);
  Outcome unread;  // a folder that nobody can look into
  // A name is no path: it may not lead out of the folders.
  if (!format.empty() && format.find('/') == std::string_view::npos) {
    for (const auto& folder : folders) {
      const std::string path = folder + '/' + module_name(kind, format);
      bool is_there = false;
      const Outcome looked = outcome_of([&] { is_there = find_file(path).has_value(); });
      if (is_there) {
        return load(kind, path);
      }
      if (!looked.ok()) {
        unread = looked;
      }
    }
  }
  unread.throw_unless_ok();
  throw not_found(kind, format, folders);
}

}  // namespace

std::string chosen_modules() {
  const char* const folder = std::getenv("IOCOMP_STORAGE_MODULES");
  return folder == nullptr ? "" : folder;
}

const void* module_entry(const ModuleKind& kind, std::string_view format,
                         const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, const void*> loaded;
  const std::lock_guard lock{mutex};
  const std::pair key{std::string{kind.prefix}, std::string{format}};
  const auto known = loaded.find(key);
  if (known != loaded.end()) {
    return known->second;
  }
  const void* found = find(kind, format, folder);
  loaded.emplace(key, found);
  return found;
}

std::set<std::string> formats_with_module(const ModuleKind& kind, const std::string& folder) {
  return names_in(kind, folders_to_search(folder));
}

}  // namespace iocomp::formats
