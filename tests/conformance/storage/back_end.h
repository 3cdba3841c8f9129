#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "storage/format.h"

namespace iocomp::storage {

/// What the suite runs for: a format, and which of its ways.
struct BackEnd {
  std::string name;
  bool library_path = false;
  std::string folder;    ///< of its module, where it is not installed
  std::string engine{};  ///< of adios2

  [[nodiscard]] FormatOptions options() const;
  [[nodiscard]] const Format& format() const;
  [[nodiscard]] bool is_plain() const;
  [[nodiscard]] bool writes_whole_steps() const { return format().writes_whole_steps(); }
};

/// Every back-end of this build.
[[nodiscard]] std::vector<BackEnd> back_ends();
/// For the names of tests: "hdf5_library".
[[nodiscard]] std::string label(const BackEnd& back_end);
inline void PrintTo(const BackEnd& back_end, std::ostream* out) { *out << label(back_end); }

}  // namespace iocomp::storage
