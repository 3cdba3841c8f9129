// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/log.h"
#include "config/settings.h"

namespace iocomp::config {

/// What the setting `log` says.
[[nodiscard]] log::Level log_level(const Settings& settings);

}  // namespace iocomp::config
