// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/error.h"

namespace iocomp {

/// Error{storage_failure} "cannot ACTION PATH: No space left on device".
[[nodiscard]] Error failure(const std::string& action, const std::string& path, int errno_value);

}  // namespace iocomp
