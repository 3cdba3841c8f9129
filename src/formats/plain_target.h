#pragma once

#include <cstdint>
#include <string>

#include "formats/format.h"

namespace iocomp::formats {

/// Raw bytes at the offsets of the layout and nothing else, written by whoever has them: what the
/// file contains is told by its manifest.
class PlainTarget : public Target {
 public:
  /// Create the file if it is not there.
  explicit PlainTarget(const std::string& path);

  std::int64_t place(const Variable& /*variable*/, std::int64_t /*step*/) override { return -1; }
  void flush() override {}
  void finish(const Description& /*description*/) override {}
};

}  // namespace iocomp::formats
