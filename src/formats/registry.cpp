// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/small_files.h"
#include "formats/format.h"
#include "formats/left_out.h"
#include "formats/load_flags.h"

namespace iocomp::formats {
namespace {

constexpr std::string_view module_prefix = "libiocomp_format_";
constexpr std::string_view module_ending = ".so";
constexpr std::array<std::string_view, 7> names_of_this_release{
    "posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2", "frames"};

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
  // A build tree is searched only by what was built in it: that must find its own modules before
  // those of an older installation, while an installed library must not load from a folder that
  // anybody may have filled since.
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

std::string module_name(std::string_view name) {
  return std::string{module_prefix} + std::string{name} + std::string{module_ending};
}

std::set<std::string> names_in(const std::vector<std::string>& folders) {
  std::set<std::string> names;
  for (const auto& folder : folders) {
    std::vector<std::string> files;
    (void)outcome_of([&] { files = iocomp::names_in(folder); });
    for (const auto& file : files) {
      if (file.starts_with(module_prefix) && file.ends_with(module_ending)) {
        names.insert(file.substr(module_prefix.size(),
                                 file.size() - module_prefix.size() - module_ending.size()));
      }
    }
  }
  return names;
}

// A module that is there must load: a broken one is told, not passed over for another.
const iocomp_format_entry& load(const std::string& path) {
  // Never closed: HDF5 and MPI register handlers at exit, and a format is needed until then anyway.
  void* module = ::dlopen(path.c_str(), load_flags());
  if (module == nullptr) {
    throw Error{ErrorCode::unsupported, std::string{"cannot load the back-end: "} + ::dlerror()};
  }
  const auto* entry = static_cast<const iocomp_format_entry*>(::dlsym(module, "iocomp_format"));
  if (entry == nullptr || entry->interface_version != iocomp_format_interface_version) {
    throw Error{ErrorCode::unsupported,
                path + (entry == nullptr
                            ? " is no back-end of iocomp: it has no symbol iocomp_format"
                            : " is a back-end for another iocomp: it has interface version " +
                                  std::to_string(entry->interface_version) + ", this one needs " +
                                  std::to_string(iocomp_format_interface_version))};
  }
  return *entry;
}

// Why this build has no such back-end.
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

Error not_found(std::string_view name, const std::vector<std::string>& folders) {
  std::string found;
  for (const auto& other : names_in(folders)) {
    found += (found.empty() ? "" : ", ") + other;
  }
  return Error{ErrorCode::unsupported,
               "the back-end \"" + std::string{name} + "\" is not installed: no " +
                   module_name(name) + " in " + joined(folders) +
                   "; found there: " + (found.empty() ? "none" : found) + why_left_out(name)};
}

const iocomp_format_entry& find(std::string_view name, const std::string& first) {
  const auto folders = folders_to_search(first);
  Outcome unread;  // a folder that nobody can look into
  // A name is no path: it may not lead out of the folders.
  if (!name.empty() && name.find('/') == std::string_view::npos) {
    for (const auto& folder : folders) {
      const std::string path = folder + '/' + module_name(name);
      bool is_there = false;
      const Outcome looked = outcome_of([&] { is_there = find_file(path).has_value(); });
      if (is_there) {
        return load(path);
      }
      if (!looked.ok()) {
        unread = looked;
      }
    }
  }
  unread.throw_unless_ok();
  throw not_found(name, folders);
}

const iocomp_format_entry& entry_of(std::string_view name, const std::string& folder) {
  static std::mutex mutex;
  static std::map<std::string, const iocomp_format_entry*, std::less<>> loaded;
  const std::lock_guard lock{mutex};
  const auto known = loaded.find(name);
  if (known != loaded.end()) {
    return *known->second;
  }
  const iocomp_format_entry& found = find(name, folder);
  loaded.emplace(name, &found);
  return found;
}

}  // namespace

const Format& format(std::string_view name, const std::string& folder,
                     const FormatOptions& options) {
  return entry_of(name, folder).format(options);
}

std::vector<FormatStatus> available_formats(const std::string& folder) {
  auto names = names_in(folders_to_search(folder));
  names.insert(names_of_this_release.begin(), names_of_this_release.end());
  std::vector<FormatStatus> all;
  for (const auto& name : names) {
    FormatStatus status{name, false, {}, {}};
    try {
      status.version = entry_of(name, folder).version();
      status.found = true;
    } catch (const Error& error) {
      status.reason = error.what();
    }
    all.push_back(status);
  }
  return all;
}

}  // namespace iocomp::formats
