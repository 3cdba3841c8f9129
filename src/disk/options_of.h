// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "config/settings.h"
#include "disk/options.h"

namespace iocomp::disk {

/// The options that follow from the settings of the disk. Those of files and threads are not among
/// them.
[[nodiscard]] Options options_of(const config::Settings& settings);

}  // namespace iocomp::disk
