// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "config/settings.h"
#include "plan.h"

namespace simulation {

/// The settings under which a job runs.
[[nodiscard]] iocomp::config::Settings settings_of(const Plan& plan);

/// The settings of a program that reads its files.
[[nodiscard]] iocomp::config::Settings settings_of_reader(const Plan& plan);

/// The name of a file in its folder; files of single steps have their number behind it.
[[nodiscard]] std::string target_name(const PlannedFile& file);

[[nodiscard]] std::string path_of(const PlannedFile& file);

}  // namespace simulation
