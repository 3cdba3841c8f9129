// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/path.h"
#include "formats/communicator.h"
#include "formats/format.h"
#include "formats/hdf5/chunk_filter.h"
#include "formats/hdf5/deflate_target.h"
#include "formats/hdf5/library_filter.h"
#include "formats/words.h"

namespace iocomp::formats::h5 {

/// A format whose files have a record for each step: hdf5 along time, and netcdf. Chunks that pass
/// a filter are written when a step is there as a whole.
/// @tparam File  a RecordFile.
template <typename File>
class RecordFormat : public Format {
 public:
  /// @param own  the option that the format says to itself.
  RecordFormat(const Traits& traits, bool FormatOptions::* own) : Format{traits}, own_{own} {}

  void check(const Variable& variable, const FormatOptions& options) const override {
    check_library_filter(variable, with_own(options));
  }
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    const auto file = [path, own = with_own(options)] { return std::make_unique<File>(path, own); };
    if (traits().kind == Kind::step) {
      return std::make_unique<DeflateTarget>(path, with_own(options), writers.raw, file);
    }
    return file();
  }

 private:
  [[nodiscard]] FormatOptions with_own(FormatOptions options) const {
    options.*own_ = true;
    return options;
  }

  bool FormatOptions::* own_;
};

/// Such a format, for each way in which chunks are made.
template <typename File>
class RecordFormats {
 public:
  /// @param plain  traits of files whose chunks pass no filter.
  RecordFormats(const Traits& plain, bool FormatOptions::* own)
      : plain_{plain, own},
        filtered_{filtered(plain, true), own},
        filtered_by_library_{filtered(plain, false), own} {}

  /// @throws Error{invalid_setting} for a filter that is not there.
  [[nodiscard]] const Format& of(const FormatOptions& options) const {
    check_methods(options);
    if (uses(options, Compression::Method::filter)) {
      return filtered_by_library_;
    }
    return options.compresses() ? filtered_ : plain_;
  }

 private:
  [[nodiscard]] static Traits filtered(Traits traits, bool allows_threads) {
    traits.kind = Kind::step;
    traits.allows_threads = allows_threads;
    return traits;
  }

  RecordFormat<File> plain_;
  RecordFormat<File> filtered_;
  RecordFormat<File> filtered_by_library_;
};

}  // namespace iocomp::formats::h5
