// SPDX-License-Identifier: BSD-3-Clause
// Reads what manifests call "frames". It is written by back-end posix.
#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/frames/source.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace {

std::string version() { return "Zstandard (RFC 8878)"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::frames::FrameSource>(path);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
