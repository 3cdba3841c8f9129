// SPDX-License-Identifier: BSD-3-Clause
// Reads the example's files: a module of its own, because who reads needs no MPI. Variables lie
// there as they are in memory, so what reads plain files can read this one. A format without such a
// module writes only.
#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/plain_source.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace {

std::string version() { return "1"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::PlainSource>(path);
}

}  // namespace

// The symbol that is looked for after loading the module.
extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
