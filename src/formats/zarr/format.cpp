// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/communicator.h"
#include "formats/rules.h"
#include "formats/sources.h"
#include "formats/zarr/codec.h"
#include "formats/zarr/target.h"

namespace iocomp::formats {
namespace {

class Zarr : public Format {
 public:
  Zarr()
      : Format{{.rules = rules::zarr,
                .extension = ".zarr",
                .kind = Kind::step,
                .goes_on = true,
                .folder_mark = mark_of_zarr_folder,
                .is_durable_itself = true,
                .allows_threads = true}} {}
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    return std::make_unique<zarr::StoreTarget>(path, options, writers.raw);
  }
};

std::string version() { return "Zarr 3"; }

const Format& zarr_format(const FormatOptions& options) {
  static const Zarr format;
  zarr::check_methods(options);
  return format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::zarr_format};
