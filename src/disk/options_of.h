// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "config/settings.h"
#include "disk/options.h"

namespace iocomp::disk {

/// What the settings say of the disk; of files and threads nothing.
[[nodiscard]] Options options_of(const config::Settings& settings);

}  // namespace iocomp::disk
