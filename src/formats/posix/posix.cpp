// SPDX-License-Identifier: BSD-3-Clause
// Raw bytes at the offsets of the layout and nothing else: what the file contains is told by its
// manifest.
#include <string>

#include "formats/format.h"
#include "formats/rules.h"

namespace iocomp::formats {
namespace {

std::string version() { return "POSIX.1-2008"; }

// The first process that writes to the file creates it.
const Format& posix(const FormatOptions& /*options*/) {
  static const Format format{
      {.rules = rules::posix, .extension = ".bin", .offsets_by_layout = true, .goes_on = true}};
  return format;
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::posix};
