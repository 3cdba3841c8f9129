// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "config/settings.h"

namespace iocomp::command {

/// The settings that hold in this folder and environment; warnings go to stderr.
[[nodiscard]] config::Settings settings_here();

/// The folder that is searched first for back-ends: the one that the environment names, else the
/// one beside this command, also in an installed tree that was moved.
[[nodiscard]] std::string modules_here();

/// The name of the disk engine that files would be written by here, with the reason. A process of a
/// job may be allowed more or less than this one: a container of its own, say.
[[nodiscard]] std::string engine_here(const config::Settings& settings);

}  // namespace iocomp::command
