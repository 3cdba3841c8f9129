// SPDX-License-Identifier: BSD-3-Clause
#include "formats/sources.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/folder_targets.h"
#include "base/open_folder.h"
#include "base/path.h"
#include "formats/library_file.h"
#include "formats/modules.h"
#include "formats/source.h"

namespace iocomp::formats {
namespace {

using Links = OpenFolder::Links;

constexpr ModuleKind reads{.prefix = "libiocomp_source_",
                           .symbol = "iocomp_source",
                           .interface_version = iocomp_source_interface_version,
                           .what = "what reads files of the back-end"};

const iocomp_source_entry& source_entry(std::string_view format, const std::string& folder) {
  return *static_cast<const iocomp_source_entry*>(module_entry(reads, format, folder));
}

// Stores that others have written have folders of any depth.
bool is_store_of_zarr(const Path& path) {
  bool is_one = false;
  (void)outcome_of([&] {
    const auto folder = path.folder().folder(path.name(), Links::followed);
    is_one = folder.has(mark_of_zarr_folder) || is_zarr_2(folder);
  });
  return is_one;
}

}  // namespace

std::unique_ptr<Source> open_source(std::string_view format, const Path& path,
                                    const std::string& folder) {
  static std::mutex library;
  // ADIOS2 writes HDF5 files too: what reads all others reads these.
  if (format == "adios2" && !is_folder(path, Links::followed)) {
    return open_source("hdf5", path, folder);
  }
  const iocomp_source_entry* entry = nullptr;
  try {
    entry = &source_entry(format, folder);
  } catch (const Error& error) {
    throw Error{error.code(), "cannot read " + path.text() + ": " + error.what()};
  }
  return entry->open(path, library);
}

std::string source_version(std::string_view format, const std::string& folder) {
  return source_entry(format, folder).version();
}

bool is_folder_of_some_format(const Path& path) {
  return is_folder_of_a_format(path, mark_of_bp_folder) || is_store_of_zarr(path);
}

std::string format_of_file(const Path& path, const std::string& folder) {
  if (is_folder(path, Links::followed)) {
    return is_store_of_zarr(path) ? "zarr" : "adios2";
  }
  std::array<char, 3> begin{};
  const Descriptor file = path.folder().open(path.name(), O_RDONLY, Links::followed);
  (void)!::pread(file.raw(), begin.data(), begin.size(), 0);
  const std::string_view bytes{begin.data(), begin.size()};
  if (begin_of_hdf5(file) >= 0) {
    bool is_of_netcdf = path.name().ends_with(".nc");
    (void)outcome_of([&] {
      is_of_netcdf = is_of_netcdf || (open_source("hdf5", path, folder)->is_of_netcdf() &&
                                      !source_version("netcdf", folder).empty());
    });
    return is_of_netcdf ? "netcdf" : "hdf5";
  }
  return bytes == "CDF" ? "pnetcdf" : "posix";
}

}  // namespace iocomp::formats
