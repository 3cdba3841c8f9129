// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/log.h"
#include "config/settings.h"

namespace iocomp::config {

/// The level that the setting `log` names.
[[nodiscard]] log::Level log_level(const Settings& settings);

/// The lines that the setting `trace.lines` asks for.
[[nodiscard]] bool prints_start_line(const Settings& settings);
[[nodiscard]] bool prints_summary(const Settings& settings);

}  // namespace iocomp::config
