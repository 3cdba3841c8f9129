// SPDX-License-Identifier: BSD-3-Clause
// A back-end to copy: variables one after another in a plain file, in the order in which they are
// placed.
//
// 1. Copy this folder, rename `Example`, and add a line `add_format(<name> SOURCES ...)` to
// formats/CMakeLists.txt.
// 2. Decide who writes the elements (see Kind). `Kind::plain`, as here: a PlainTarget says where a
//    variable begins, iocomp writes the bytes there, and the target only keeps the books.
//    `Kind::shared`: MPI-IO, see formats/mpiio. `Kind::step`: a library, whole steps, see
//    formats/adios2.
// 3. source_module.cpp reads the files: a module of its own, which needs no MPI.
// 4. Add the name to tests/conformance/storage: a back-end is one when that suite passes.
#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/path.h"
#include "formats/format.h"

namespace iocomp::formats {
namespace {

/// One file in the making; only the lead has one.
class ExampleTarget : public PlainTarget {
 public:
  // The file is there, and empty. One that writes an index would open it here (open_physical).
  // Nothing is ever opened by a path: see base/path.h.
  explicit ExampleTarget(std::int64_t alignment_bytes) : alignment_{alignment_bytes} {}

  std::int64_t place(const Variable& variable, std::int64_t /*step*/,
                     const contents::Known& /*known*/) override {
    if (variable.bytes() == 0) {
      return -1;
    }
    const std::int64_t offset = (end_ + alignment_ - 1) / alignment_ * alignment_;
    end_ = offset + variable.bytes();
    return offset;
  }

  // A format with an index of its own would write it out here, to a place that no reader looks at
  // yet, and return the bytes that lead them there ...
  Switch commit(const Description& /*description*/, std::int64_t /*from*/) override { return {}; }
  // ... and here, with the attributes in `description`, for the last time.
  Switch finish(const Description& /*description*/, std::int64_t /*from*/) override { return {}; }

 private:
  std::int64_t alignment_;
  std::int64_t end_ = 0;
};

std::string version() { return "1"; }

// A format that depends on options has an object for each choice, and gives the right one here.
const Format& example(const FormatOptions& /*options*/) {
  static const Format format{
      {.rules = {.format = "example_format"},  // and what it cannot hold: contents/rules.h
       .extension = ".example",
       .kind = Kind::plain,
       // True only for a file whose offsets are those of Layout; then it has no target.
       .offsets_by_layout = false},
      [](const auto& /*path*/, const auto& given, const auto& /*writers*/) {
        return std::make_unique<ExampleTarget>(given.alignment_bytes);
      }};
  return format;
}

}  // namespace
}  // namespace iocomp::formats

// The registry looks for this symbol after loading the module.
extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::example};
