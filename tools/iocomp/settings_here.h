// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "config/settings.h"

namespace iocomp::command {

/// The settings that hold in this folder and environment; warnings go to stderr.
[[nodiscard]] config::Settings settings_here();

/// The folder that is searched first for back-ends: that of the settings, else the one beside this
/// command, also in an installed tree that was moved.
[[nodiscard]] std::string modules_in(const config::Settings& settings);

}  // namespace iocomp::command
