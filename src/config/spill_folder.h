// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "config/settings.h"

namespace iocomp::config {

/// The folder where this process spills: `staging.spill`; if unset, the environment's folder for
/// temporary files (TMPDIR, TMP, TEMP), else /tmp.
[[nodiscard]] std::string spill_folder(const Settings& settings);

}  // namespace iocomp::config
