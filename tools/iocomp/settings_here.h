#pragma once

#include "config/settings.h"

namespace iocomp::command {

/// The settings that hold in this folder and environment; warnings go to stderr.
[[nodiscard]] config::Settings settings_here();

}  // namespace iocomp::command
