// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/error.h"

namespace iocomp {

/// Error{storage_failure} "cannot ACTION PATH: No space left on device".
[[nodiscard]] Error failure(const std::string& action, const std::string& path, int errno_value);

/// What can be said about a write that ended short without a cause: that the file system of `path`
/// is full, or how much room it has left.
[[nodiscard]] std::string cause_of_short_write(const std::string& path);

}  // namespace iocomp
