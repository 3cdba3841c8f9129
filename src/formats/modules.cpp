// SPDX-License-Identifier: BSD-3-Clause
#include "formats/modules.h"

#include <dlfcn.h>

#include <algorithm>
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
#include "formats/load_flags.h"

namespace iocomp::formats {
namespace {

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
