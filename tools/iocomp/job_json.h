// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "iocomp/job_map.h"
#include "iocomp/launch_line.h"
#include "iocomp/output.h"
#include "placement/map.h"

namespace iocomp::command {

/// The compute ranks that belong to each server. Empty for other ranks.
[[nodiscard]] std::vector<std::vector<int>> clients_of(const placement::Map& map);

/// A job and its launch, as `iocomp map` and `iocomp launch` tell them.
[[nodiscard]] Json json_of(const JobMap& job, const Launch& launch);

}  // namespace iocomp::command
