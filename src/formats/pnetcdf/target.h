#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/descriptor.h"
#include "formats/format.h"
#include "formats/pnetcdf/layout.h"
#include "formats/words.h"

namespace iocomp::formats::cdf {

/// Anybody writes the data, big-endian, at the offsets that `place` returns; the lead
/// writes the header when the file is finished.
class PnetcdfTarget : public Target {
 public:
  PnetcdfTarget(std::string path, const FormatOptions& options);

  [[nodiscard]] int defined() const noexcept override { return layout_.defined(); }
  void know(std::span<const Variable> all) override { layout_.define(all); }
  void know_attributes(std::int64_t bytes, std::int64_t count) override {
    layout_.expect_attributes(bytes, count);
  }
  std::int64_t place(const Variable& variable, std::int64_t step) override {
    return layout_.place(variable, step);
  }
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
