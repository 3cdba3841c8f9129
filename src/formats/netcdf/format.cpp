// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <netcdf.h>

#include <string>

#include "formats/hdf5/library.h"
#include "formats/hdf5/record_format.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/netcdf/file.h"
#include "formats/rules.h"

namespace iocomp::formats {
namespace {

const Format& netcdf(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  h5::make_zstd_known_to(reinterpret_cast<const void*>(&nc_open));
  static const h5::RecordFormats<cdf::NetcdfFile> all{
      {.rules = rules::netcdf, .extension = ".nc", .goes_on = true},
      &FormatOptions::splits_complex_numbers};
  return all.of(options);
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version,
    &iocomp::formats::netcdf};
