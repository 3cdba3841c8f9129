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

/// The formats whose files have a record for each step, for each way in which chunks are made: hdf5
/// along time, and netcdf. Chunks that pass a filter are written when a step is there as a whole.
/// @tparam File  a RecordFile.
template <typename File>
class RecordFormats {
 public:
  /// @param plain  traits of files whose chunks pass no filter.
  /// @param own  the option that the format says to itself.
  RecordFormats(const Traits& plain, bool FormatOptions::* own)
      : plain_{made(plain, own)},
        filtered_{made(filtered(plain, true), own)},
        filtered_by_library_{made(filtered(plain, false), own)} {}

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
  [[nodiscard]] static Format made(const Traits& traits, bool FormatOptions::* own) {
    const auto with_own = [own](FormatOptions options) {
      options.*own = true;
      return options;
    };
    const auto create = [with_own, kind = traits.kind](const Path& path, const FormatOptions& given,
                                                       const Communicator& writers) -> Target {
      const auto options = with_own(given);
      const auto file = [path, options] { return std::make_unique<File>(path, options); };
      if (kind == Kind::step) {
        return std::make_unique<DeflateTarget>(path, options, writers.raw, file);
      }
      return file();
    };
    return Format{traits, create, {}, [with_own](const auto& variable, const auto& options) {
                    check_library_filter(variable, with_own(options));
                  }};
  }

  Format plain_;
  Format filtered_;
  Format filtered_by_library_;
};

}  // namespace iocomp::formats::h5
