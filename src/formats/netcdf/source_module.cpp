// SPDX-License-Identifier: BSD-3-Clause
// Reads the files of both back-ends, netcdf and pnetcdf.
#include <netcdf.h>

#include <string>

#include "formats/netcdf/source.h"
#include "formats/sources.h"

namespace {

std::string version() {
  const std::string text = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ..."
  return "netCDF " + text.substr(0, text.find(' '));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const iocomp_source_entry iocomp_source{
    iocomp_source_interface_version, &version, &iocomp::formats::cdf::open_netcdf};
