// SPDX-License-Identifier: BSD-3-Clause
// Reads the files of both back-ends, netcdf and pnetcdf.
#include <netcdf.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/netcdf/source.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace {

std::string version() {
  const std::string text = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ..."
  return "netCDF " + text.substr(0, text.find(' '));
}

std::unique_ptr<iocomp::formats::Source> open_source(const iocomp::Path& path,
                                                     std::mutex& library) {
  {
    const std::lock_guard lock{library};
    iocomp::formats::h5::make_zstd_known_to(reinterpret_cast<const void*>(&nc_open));
  }
  return iocomp::formats::cdf::open_netcdf(path, library);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open_source};
