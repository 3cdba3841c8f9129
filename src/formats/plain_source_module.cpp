// SPDX-License-Identifier: BSD-3-Clause
// The module for back-ends whose files hold raw elements, at the offsets of their manifest.
#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/plain_source.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace {

std::string version() { return "POSIX.1-2008"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::PlainSource>(path);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
