// SPDX-License-Identifier: BSD-3-Clause
// What manifests call "frames" is read by a module of this name. It is written by back-end posix.
#include <string>

#include "formats/format.h"
#include "formats/frames/format.h"

namespace {

std::string version() { return "Zstandard (RFC 8878), written by posix with compression"; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const iocomp_format_entry iocomp_format{
    iocomp_format_interface_version, &version, &iocomp::formats::frames::format};
