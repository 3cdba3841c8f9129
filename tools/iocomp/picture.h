// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "iocomp/job_map.h"

namespace iocomp::command {

/// The first nodes of the job as an SVG document: packages, NUMA domains, L3 groups, cores and
/// hardware threads, with compute ranks, servers and their pairs.
/// @throws Error{invalid_argument} for a map without CPUs.
[[nodiscard]] std::string picture_of(const JobMap& job);

}  // namespace iocomp::command
