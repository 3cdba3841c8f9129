// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/communicator.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/flat_target.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/record_format.h"
#include "formats/hdf5/steps_target.h"
#include "formats/hdf5/time_file.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/rules.h"

namespace iocomp::formats {
namespace {

// layout = "steps".
class Hdf5OfSteps : public Format {
 public:
  Hdf5OfSteps() : Format{{.rules = rules::hdf5, .extension = ".h5", .goes_on = true}} {}
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& /*writers*/) const override {
    return std::make_unique<h5::StepsTarget>(path, options);
  }
};

// layout = "flat".
class Hdf5Flat : public Format {
 public:
  Hdf5Flat() : Format{{.rules = rules::hdf5_flat, .extension = ".h5"}} {}
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& /*writers*/) const override {
    return std::make_unique<h5::FlatTarget>(path, options);
  }
};

const Format& hdf5(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  static const Hdf5OfSteps steps;
  static const Hdf5Flat flat;
  static const h5::RecordFormats<h5::TimeFile> along_time{
      {.rules = rules::hdf5_time, .extension = ".h5", .goes_on = true},
      &FormatOptions::has_strings};
  if (!options.grows_along_time) {
    return options.is_flat ? static_cast<const Format&>(flat) : steps;
  }
  return along_time.of(options);
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version, &iocomp::formats::hdf5};
