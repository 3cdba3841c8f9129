// SPDX-License-Identifier: BSD-3-Clause
#include "formats/cdf/format.h"

#include <netcdf.h>

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/netcdf/source.h"

namespace iocomp::formats::cdf {

std::unique_ptr<Source> CdfFormat::open(const Path& path) const { return open_netcdf(path); }

std::string library_version() {
  const std::string text = nc_inq_libvers();  // "4.9.0 of Aug  7 2022 ..."
  return "netCDF " + text.substr(0, text.find(' '));
}

}  // namespace iocomp::formats::cdf
