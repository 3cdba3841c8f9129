// SPDX-License-Identifier: BSD-3-Clause
#include <adios2.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/adios2/source.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace {

std::string version() { return "ADIOS2 " ADIOS2_VERSION_STR; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& library) {
  return std::make_unique<iocomp::formats::bp::StepSource>(path, library);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
