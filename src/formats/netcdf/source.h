// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/path.h"
#include "formats/source.h"

namespace iocomp::formats::cdf {

/// Open a committed file, or one of others. Local.
/// @throws Error{storage_failure}.
[[nodiscard]] std::unique_ptr<Source> open_netcdf(const Path& path);

}  // namespace iocomp::formats::cdf
