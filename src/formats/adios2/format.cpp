// SPDX-License-Identifier: BSD-3-Clause
#include "formats/format.h"

#include <adios2.h>

#include <array>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/path.h"
#include "formats/adios2/engine.h"
#include "formats/adios2/target.h"
#include "formats/communicator.h"
#include "formats/rules.h"

namespace iocomp::formats {
namespace {

const contents::Rules& rules_of(bp::Kind kind) {
  return kind == bp::Kind::bp4   ? rules::adios2_bp4
         : kind == bp::Kind::bp5 ? rules::adios2_bp5
                                 : rules::adios2_hdf5;
}

class Adios2 : public Format {
 public:
  explicit Adios2(bp::Kind kind)
      : Format{{.rules = rules_of(kind),
                .extension = kind == bp::Kind::hdf5 ? ".h5" : ".bp",
                .kind = Kind::step,
                .readable_while_open = kind != bp::Kind::hdf5,
                .goes_on = kind == bp::Kind::bp4,  // docs/developers/decisions/going_on.md
                .folder_mark = kind == bp::Kind::hdf5 ? "" : "md.idx"}},
        kind_{kind} {}

  [[nodiscard]] Target create(const Path& path, const FormatOptions& options,
                              const Communicator& writers) const override {
    return std::make_unique<bp::DatasetTarget>(path, options, kind_, writers.raw);
  }

 private:
  bp::Kind kind_;
};

const std::array<Adios2, 3>& all() {
  static const std::array<Adios2, 3> formats{Adios2{bp::Kind::bp4}, Adios2{bp::Kind::bp5},
                                             Adios2{bp::Kind::hdf5}};
  return formats;
}

const Format& adios2_format(const FormatOptions& options) {
  for (const bp::Kind kind : {bp::Kind::bp4, bp::Kind::bp5, bp::Kind::hdf5}) {
    if (options.engine != bp::name(kind)) {
      continue;
    }
#ifndef ADIOS2_HAVE_HDF5
    if (kind == bp::Kind::hdf5) {
      throw Error{ErrorCode::unsupported,
                  "the engine HDF5 of adios2 is not there: this ADIOS2 was built without HDF5"};
    }
#endif
    (void)bp::parameters(kind, options, 1);  // refuses some
    bp::check_operators(kind, options);
    return all().at(static_cast<std::size_t>(kind));
  }
  throw Error{ErrorCode::invalid_setting,
              "unknown engine \"" + options.engine + "\" of adios2; allowed are BP4, BP5 and HDF5"};
}

std::string version() {
#ifdef ADIOS2_HAVE_HDF5
  return "ADIOS2 " ADIOS2_VERSION_STR ", engines BP4, BP5 and HDF5";
#else
  return "ADIOS2 " ADIOS2_VERSION_STR ", engines BP4 and BP5";
#endif
}

}  // namespace
}  // namespace iocomp::formats

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &iocomp::formats::version, &iocomp::formats::adios2_format};
