// SPDX-License-Identifier: BSD-3-Clause
#include "formats/registry.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/format.h"
#include "formats/modules.h"
#include "formats/sources.h"

namespace iocomp::formats {
namespace {

constexpr ModuleKind writes{.prefix = "libiocomp_format_",
                            .symbol = "iocomp_format",
                            .interface_version = iocomp_format_interface_version,
                            .what = "the back-end"};
constexpr std::array<std::string_view, 7> names_of_this_release{
    "posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "zarr", "adios2"};

const iocomp_format_entry& entry_of(std::string_view name, const std::string& folder) {
  return *static_cast<const iocomp_format_entry*>(module_entry(writes, name, folder));
}

}  // namespace

const Format& format(std::string_view name, const std::string& folder,
                     const FormatOptions& options) {
  return entry_of(name, folder).format(options);
}

std::vector<FormatStatus> available_formats(const std::string& folder) {
  auto names = formats_with_module(writes, folder);
  names.insert(names_of_this_release.begin(), names_of_this_release.end());
  std::vector<FormatStatus> all;
  for (const auto& name : names) {
    FormatStatus status{name, false, {}, {}};
    try {
      status.version = entry_of(name, folder).version();
      status.found = true;
      const std::string reader = source_version(name, folder);
      status.version += reader == status.version ? "" : ", read by " + reader;
    } catch (const Error& error) {
      (status.found ? status.version : status.reason) +=
          status.found ? std::string{", cannot be read: "} + error.what() : error.what();
    }
    all.push_back(status);
  }
  return all;
}

}  // namespace iocomp::formats
