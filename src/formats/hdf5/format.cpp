// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <memory>
#include <string>

#include "base/path.h"
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

const Format& hdf5(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  static const Format steps{{.rules = rules::hdf5, .extension = ".h5", .goes_on = true},
                            [](const auto& path, const auto& given, const auto& /*writers*/) {
                              return std::make_unique<h5::StepsTarget>(path, given);
                            }};
  static const Format flat{{.rules = rules::hdf5_flat, .extension = ".h5"},
                           [](const auto& path, const auto& given, const auto& /*writers*/) {
                             return std::make_unique<h5::FlatTarget>(path, given);
                           }};
  static const h5::RecordFormats<h5::TimeFile> along_time{
      {.rules = rules::hdf5_time, .extension = ".h5", .goes_on = true},
      &FormatOptions::has_strings};
  if (!options.grows_along_time) {
    return options.is_flat ? flat : steps;
  }
  return along_time.of(options);
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version, &iocomp::formats::hdf5};
