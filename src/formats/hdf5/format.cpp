// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <memory>
#include <string>

#include "base/path.h"
#include "formats/communicator.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/dataset.h"
#include "formats/hdf5/dataset_names.h"
#include "formats/hdf5/deflate_target.h"
#include "formats/hdf5/flat_target.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/library_filter.h"
#include "formats/hdf5/record_target.h"
#include "formats/hdf5/steps_target.h"
#include "formats/hdf5/time_dataset.h"
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

// layout = "time". Chunks that pass a filter are written when a step is there as a whole.
class Hdf5AlongTime : public Format {
 public:
  explicit Hdf5AlongTime(bool is_filtered, bool is_filtered_by_library = false)
      : Format{{.rules = rules::hdf5_time,
                .extension = ".h5",
                .kind = is_filtered ? Kind::step : Kind::plain,
                .goes_on = true,
                .allows_threads = !is_filtered_by_library}} {}
  void check(const Variable& variable, const FormatOptions& options) const override {
    FormatOptions own = options;
    own.has_strings = true;
    h5::check_library_filter(variable, own);
  }
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    FormatOptions own = options;
    own.has_strings = true;
    const auto file = [path, own] { return std::make_unique<h5::TimeFile>(path, own); };
    if (traits().kind == Kind::step) {
      return std::make_unique<h5::DeflateTarget>(path, own, writers.raw, file);
    }
    return std::make_unique<h5::RecordTarget>(file());
  }
};

const Format& hdf5(const FormatOptions& options) {
  static const std::string checked = h5::library_version();
  h5::make_zstd_known();
  static const Hdf5OfSteps steps;
  static const Hdf5Flat flat;
  static const Hdf5AlongTime plain{false};
  static const Hdf5AlongTime filtered{true};
  static const Hdf5AlongTime filtered_by_library{true, true};
  if (!options.grows_along_time) {
    return options.is_flat ? static_cast<const Format&>(flat) : steps;
  }
  h5::check_methods(options);
  if (h5::uses_library_filters(options)) {
    return filtered_by_library;
  }
  return options.compresses() ? filtered : plain;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::h5::library_version, &iocomp::formats::hdf5};
