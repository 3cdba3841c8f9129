// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <netcdf.h>

#include <memory>
#include <string>

#include "base/path.h"
#include "contents/dimensions.h"
#include "formats/communicator.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/deflate_target.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/record_target.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/netcdf/file.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

class Netcdf : public Format {
 public:
  explicit Netcdf(Kind kind, bool is_filtered_by_library = false)
      : Format{{.rules = rules::netcdf,
                .extension = ".nc",
                .kind = kind,
                .goes_on = true,
                .allows_threads = !is_filtered_by_library}} {}
  void check(const Variable& variable, const FormatOptions& options) const override {
    FormatOptions own = options;
    own.splits_complex_numbers = true;
    h5::check_library_filter(variable, own);
  }
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    FormatOptions own = options;
    own.splits_complex_numbers = true;
    const auto file = [path, own] { return std::make_unique<cdf::NetcdfFile>(path, own); };
    if (traits().kind == Kind::step) {
      return std::make_unique<h5::DeflateTarget>(path, own, writers.raw, file);
    }
    return std::make_unique<h5::RecordTarget>(file());
  }
};

// Chunks that pass a filter are written when a step is there as a whole.
const Format& netcdf(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  h5::make_zstd_known_to(reinterpret_cast<const void*>(&nc_open));
  static const Netcdf plain{Kind::plain};
  static const Netcdf compressed{Kind::step};
  static const Netcdf compressed_by_library{Kind::step, true};
  h5::check_methods(options);
  if (h5::uses_library_filters(options)) {
    return compressed_by_library;
  }
  return options.compresses() ? compressed : plain;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version,
    &iocomp::formats::netcdf};
