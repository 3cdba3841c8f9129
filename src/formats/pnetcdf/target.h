#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "formats/format.h"
#include "formats/pnetcdf/layout.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// Anybody writes the data, big-endian, at the offsets that `place` returns; the lead
/// writes the header when the file is finished.
class PnetcdfTarget : public PlainTarget {
 public:
  PnetcdfTarget(std::string path, const FormatOptions& options);

  std::int64_t place(const Variable& variable, std::int64_t step,
                     const contents::Catalogue& defined) override;
  /// Does nothing: there is no header before the end.
  void flush() override {}
  /// Parts of records that nobody has put get the fill value of their variable.
  void finish(const Description& description) override;

 private:
  std::string path_;
  Descriptor file_;
  PnetcdfLayout layout_;
};

}  // namespace iocomp::formats::cdf
