// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "array/element_type.h"
#include "base/path.h"
#include "formats/format.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace iocomp::formats {

/// The subject of the suite: a format, and which of its ways.
struct BackEnd {
  std::string name;
  std::string folder;    ///< of its module, where it is not installed
  std::string engine{};  ///< of adios2
  std::string
      layout{};  ///< of hdf5: "time", or "deflate" or "zstd" along time; of netcdf: these two

  [[nodiscard]] FormatOptions options() const;
  [[nodiscard]] const Format& format() const;
  /// Make the file and its target. Collective, but for a plain one.
  [[nodiscard]] Target create(const Path& path) const;
  /// A file that it has written, for reading.
  [[nodiscard]] std::unique_ptr<Source> open(const std::string& path) const {
    return open_source(name, Path{path}, folder);
  }
  [[nodiscard]] bool is_plain() const { return format().traits().is_plain(); }
  [[nodiscard]] bool writes_whole_steps() const { return format().traits().writes_whole_steps(); }
  [[nodiscard]] bool holds(array::ElementType type) const;
  /// The variable, or one that this back-end can hold instead: of another type, in no group.
  [[nodiscard]] Variable like(Variable wanted) const;
};

/// Every back-end of this build.
[[nodiscard]] std::vector<BackEnd> back_ends();
/// For the names of tests: "hdf5_time".
[[nodiscard]] std::string label(const BackEnd& back_end);
inline void PrintTo(const BackEnd& back_end, std::ostream* out) { *out << label(back_end); }

}  // namespace iocomp::formats
