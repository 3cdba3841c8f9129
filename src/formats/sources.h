// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/open_folder.h"
#include "base/path.h"
#include "formats/source.h"

namespace iocomp::formats {

/// Open a file for reading by the module `libiocomp_source_<format>.so`, which is loaded at first
/// use. It needs no MPI. Local: every reader opens a file for itself, whoever wrote it.
/// @param folder  see module_entry.
/// @throws Error{unsupported} where there is no such module; Error{storage_failure} for a file that
/// is none of this format.
[[nodiscard]] std::unique_ptr<Source> open_source(std::string_view format, const Path& path,
                                                  const std::string& folder = {});

/// The library that reads files of a format: "HDF5 1.10.8". Loads its module.
/// @throws Error{unsupported}.
[[nodiscard]] std::string source_version(std::string_view format, const std::string& folder = {});

/// A file that every folder of BP has, and one of every folder of Zarr.
inline constexpr const char* mark_of_bp_folder = "md.idx";
inline constexpr const char* mark_of_zarr_folder = "zarr.json";
/// True for a store of Zarr 2. It is found as one, so that its source says why it is not read.
[[nodiscard]] inline bool is_zarr_2(const OpenFolder& folder) {
  return folder.has(".zgroup") || folder.has(".zarray");
}
/// True if a folder is a file of a format, iocomp's or another program's.
[[nodiscard]] bool is_folder_of_some_format(const Path& path);

/// The name of the format of a file, by its first bytes, and of HDF5 by its contents: "posix" where
/// they say nothing.
/// @param folder  see module_entry.
[[nodiscard]] std::string format_of_file(const Path& path, const std::string& folder);

}  // namespace iocomp::formats

/// The symbol that a module `libiocomp_source_<name>.so` exports; `interface_version` must be the
/// core's.
extern "C" {
inline constexpr int iocomp_source_interface_version = 5;
struct iocomp_source_entry {
  int interface_version;
  /// The version of the library that reads: "HDF5 1.10.8".
  std::string (*version)();
  /// Open a committed file, or one of others.
  /// @param library  held while a library is called that serves one thread at a time. One for all
  /// modules of a process, since two may call the same library.
  /// @throws Error{storage_failure} for a file that is none of this format.
  std::unique_ptr<iocomp::formats::Source> (*open)(const iocomp::Path& path, std::mutex& library);
};
}
// A module defines: extern "C" __attribute__((visibility("default"))) const iocomp_source_entry
// iocomp_source;
