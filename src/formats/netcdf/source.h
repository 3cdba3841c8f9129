// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>

#include "base/path.h"
#include "formats/source.h"

namespace iocomp::formats::cdf {

/// Open a committed file, or one of others. Local.
/// @param library  see iocomp_source_entry.
/// @throws Error{storage_failure}.
[[nodiscard]] std::unique_ptr<Source> open_netcdf(const Path& path, std::mutex& library);

}  // namespace iocomp::formats::cdf
