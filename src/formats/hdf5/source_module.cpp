// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <mutex>
#include <string>

#include "base/path.h"
#include "formats/hdf5/library.h"
#include "formats/hdf5/source.h"
#include "formats/hdf5/zstd_filter.h"
#include "formats/source.h"
#include "formats/sources.h"

namespace iocomp::formats::h5 {
namespace {

std::unique_ptr<Source> open_source(const Path& path, std::mutex& library) {
  {
    const std::lock_guard lock{library};
    static const std::string checked = library_version();
    make_zstd_known();
  }
  return std::make_unique<Hdf5Source>(path, library);
}

}  // namespace
}  // namespace iocomp::formats::h5

extern "C" __attribute__((visibility("default"))) const iocomp_source_entry iocomp_source{
    iocomp_source_interface_version, &iocomp::formats::h5::library_version,
    &iocomp::formats::h5::open_source};
