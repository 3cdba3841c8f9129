// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/error.h"

namespace iocomp {

/// Error{storage_failure} "cannot ACTION PATH: No space left on device".
[[nodiscard]] Error failure(const std::string& action, const std::string& path, int errno_value);

/// The outcome, with a story that begins as those of a file do: `file "FILE"WHERE: `. A story that
/// names its file already stays as it is.
[[nodiscard]] Outcome in_file(const Outcome& outcome, const std::string& file,
                              const std::string& where = {});

}  // namespace iocomp
