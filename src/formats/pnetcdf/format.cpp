// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <bit>
#include <memory>
#include <string>

#include "base/path.h"
#include "formats/pnetcdf/target.h"
#include "formats/rules.h"
#include "formats/words.h"

namespace iocomp::formats {
namespace {

class Pnetcdf : public Format {
 public:
  Pnetcdf()
      : Format{{.rules = rules::pnetcdf,
                .extension = ".nc",
                .goes_on = true,
                .byte_order = std::endian::big}} {}
  [[nodiscard]] contents::Rules rules(const FormatOptions& options) const override {
    auto rules = traits().rules;
    rules.header_bytes = cdf::header_room(options);
    return rules;
  }
  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& /*writers*/) const override {
    return std::make_unique<cdf::PnetcdfTarget>(path, options);
  }
};

const Format& pnetcdf(const FormatOptions& /*options*/) {
  static const Pnetcdf format;
  return format;
}

std::string version() { return "CDF-5"; }

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::pnetcdf};
