// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/source.h"
#include "formats/sources.h"
#include "formats/zarr/source.h"

namespace {

std::string version() { return "Zarr 3"; }

std::unique_ptr<iocomp::formats::Source> open(const iocomp::Path& path, std::mutex& /*library*/) {
  return std::make_unique<iocomp::formats::zarr::StoreSource>(path);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const iocomp_source_entry iocomp_source{iocomp_source_interface_version, &version, &open};
